// Finds where to click, and sees to it that a click which misses does nothing: between the look and the
// press a page may move or replace what was looked at.
(async (find) => {
  if (!window.guarded) {
    window.guarded = true;
    const isHit = (el, target) => el.contains(target) || Boolean(target.closest?.("label")?.contains(el));
    for (const name of ["pointerdown", "mousedown", "pointerup", "mouseup", "click"]) {
      addEventListener(name, (event) => {
        if (!window.aim || !event.isTrusted) return;
        if (isHit(window.aim.el, event.target)) {
          window.aim.hit ||= name === "click";
          return;
        }
        event.preventDefault();
        event.stopImmediatePropagation();
      }, { capture: true });
    }
  }
  for (let before = ""; ;) {
    const el = find();
    if (!el) return "";
    el.scrollIntoView({ block: "center" });
    await new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));
    const box = el.getBoundingClientRect();
    const now = `${box.x + box.width / 2},${box.y + box.height / 2}`;
    const moving = document.getAnimations().some((it) =>
      it.playState === "running" && it.effect.getComputedTiming().iterations !== Infinity);
    // Twice the same place and nothing on its way: it has stopped moving.
    if (now === before && !moving && el === find()) {
      window.aim = { el, hit: false };
      return now;
    }
    before = now;
  }
})
