import assert from "node:assert/strict";
import { test } from "node:test";

import { fire } from "./page.mjs";
const { TABS, current, go, onRoute, parse, reread, to } = await import("../../web/core/router.js");

const ODD = ["plain", "a b", "ü/ä", "50%", "a?b=c", "#x", "..", "%2F"];

/** The parts of a route that an address names. */
const place = ({ view, project, artifact, tab, rest }) => ({ view, project, artifact, tab, rest });

test("every address leads to the place it was made for, whatever the names are", () => {
  for (const project of ODD) {
    assert.deepEqual(place(parse(to.project(project))), { view: "project", project, artifact: "", tab: "preview", rest: "" });
    for (const id of ODD) {
      for (const tab of TABS) {
        const route = parse(to.live({ projectId: project, id }, tab, "refresh-000001", { path: "a.b?c" }));
        assert.deepEqual(place(route), { view: "live", project, artifact: id, tab, rest: "refresh-000001" });
        assert.equal(route.query.get("path"), "a.b?c");
      }
    }
  }
  for (const path of ["a.json", "data/rows 1.json", "100%/#/?.json"]) {
    const route = parse(to.file("p", path));
    assert.deepEqual([route.view, route.project, route.rest], ["file", "p", path]);
  }
  const route = parse(to.create("p", "a.json"));
  assert.deepEqual([route.view, route.query.get("project"), route.query.get("file")], ["new", "p", "a.json"]);
});

test("the root is the list, and what names no view is unknown", () => {
  for (const address of ["", "#", "#/", "#/designs"]) assert.equal(parse(address).view, "designs", address);
  assert.equal(parse("#/connectors").view, "connectors");
  for (const address of ["#/nothing", "#/designs/x", "#/p", "#/p/a/what/b", "#/p/a/live", "#/p/a/live/b/nothing"]) {
    assert.equal(parse(address).view, "unknown", address);
  }
});

test("a broken escape is taken as it is", () => {
  assert.equal(parse("#/p/50%/live/a").project, "50%");
});

test("what is empty is left out of an address", () => {
  assert.equal(to.live({ projectId: "p", id: "a" }, "preview", "", { inspect: undefined }), "#/p/p/live/a/preview");
  assert.equal(to.create(), "#/new");
});

test("going somewhere is told at once and once, and the browser's later event adds nothing", () => {
  const told = [];
  onRoute((route, before) => told.push([before.view, route.view]));
  go("#/connectors");
  assert.equal(current().view, "connectors");
  assert.deepEqual(told, [["designs", "connectors"]]);
  fire("hashchange");
  go("#/connectors");
  assert.equal(told.length, 1);
  location.hash = "#/new";
  fire("hashchange");
  assert.deepEqual(told.at(-1), ["connectors", "new"]);
});

test("an address that changed without an event is read again without being told", () => {
  const told = [];
  onRoute(() => told.push("moved"));
  location.hash = "#/designs";
  reread();
  assert.equal(current().view, "designs");
  fire("hashchange");
  assert.deepEqual(told, []);
});
