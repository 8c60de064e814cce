import assert from "node:assert/strict";
import { test } from "node:test";

import "./page.mjs";
const { bindings } = await import("../../web/views/artifact/preview.js");

const paths = (/** @type {string} */ template) => bindings(template).map(({ path }) => path);

test("every value that a page shows is listed once, whatever its format and however deep its list", () => {
  assert.deepEqual(paths("<p>{{data.n}} {{ data.n }} {{data.a.b | number(1) or '-'}}</p>"), ["n", "a.b"]);
  assert.deepEqual(
    paths(`<ul data-od-repeat="team in data.teams"><li>{{team.name}}</li>
      <li data-od-repeat="person in team.people">{{person.age | number}}</li></ul>`),
    ["teams[].name", "teams[].people[].age"],
  );
});

test("text in braces that is no path of the data is not listed", () => {
  assert.deepEqual(paths("<p>{{nothing.here}} {{data.n}}</p>"), ["n"]);
});

test("what a chart draws is listed, its numbers are not", () => {
  const chart = `<figure data-od-chart="line" data-od-repeat="d in data.days" data-od-x="d.day" data-od-y="d.n, d.m" data-od-min="0.9" data-od-max="data.top"></figure>`;
  assert.deepEqual(paths(chart), ["days[].day", "days[].n", "days[].m", "top"]);
});
