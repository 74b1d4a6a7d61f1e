"""A telephone, and what a finger misses."""

PHONE = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
# What is pressed, and is missed by a finger 21 pixels from its middle.
SMALL = """() => [...document.querySelectorAll(
  "article :is(summary, button, select, input), " +
  ".mobile-header :is(label, button), .related-pages a",
)].map((one) => one.closest("label") ?? one).filter((one) => {
  if (!one.checkVisibility({ visibilityProperty: true })) return false;
  one.scrollIntoView({ block: "center", behavior: "instant" });
  const { left, top, width, height } = one.getBoundingClientRect();
  const [x, y] = [left + width / 2, top + height / 2];
  return [[0, 21], [0, -21], [21, 0], [-21, 0]].some(([right, down]) => {
    const hit = document.elementFromPoint(x + right, y + down);
    return hit !== one && !one.contains(hit);
  });
}).map((one) => one.outerHTML.slice(0, 80))"""
