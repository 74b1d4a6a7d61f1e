"""What axe-core complains of on a whole page, WCAG 2.1 A and AA."""

from node import WEB, need_node

AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
RUN = """async (tags) => {
  // axe calls it experimental: a name leaves out what the button says
  const rules = {"label-content-name-mismatch": {enabled: true}};
  const runOnly = {type: "tag", values: tags};
  const {violations} = await axe.run(document, {runOnly, rules});
  // the cell of a map is named by its place and what its numbers mean
  const isCell = ({html}) => html.includes('role="gridcell"');
  for (const one of violations) {
    if (one.id !== "label-content-name-mismatch") continue;
    one.nodes = one.nodes.filter((node) => !isCell(node));
  }
  const places = (nodes) => nodes.map((one) => one.html.slice(0, 150)).join(" | ");
  const left = violations.filter(({nodes}) => nodes.length);
  return left.map(({id, nodes}) => `${id}: ${places(nodes)}`);
}"""


def complaints(page) -> list[str]:
    need_node()
    page.evaluate(AXE.read_text(encoding="utf-8"))
    return page.evaluate(RUN, TAGS)
