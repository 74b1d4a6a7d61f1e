/** Links from what a badge says to the page of its statement. */

interface Page {
  /** From the root of the project, such as "docs/mathematics/softmax.md". */
  path: string;
  heading: string;
}

/** In JupyterLab: where the notebook in front has the pages, two folders up or three. */
export function addressInLab({ path }: Page): string | undefined {
  const settings = document.querySelector("#jupyter-config-data")?.textContent;
  const notebook = notebookInFront();
  const root = /^(.*?)(beyond\/)?notebooks\/[^/]+$/.exec(notebook ?? "")?.[1];
  if (!settings || root === undefined) return undefined;
  const { baseUrl = "/" } = JSON.parse(settings) as { baseUrl?: string };
  return `${baseUrl}lab/tree/${root}${path}?factory=Markdown%20Preview`;
}

/** The path of the notebook whose tab is in front, as JupyterLab's tooltip says it. */
export function notebookInFront(): string | undefined {
  const tab = ".lm-TabBar-tab.lm-mod-current[title*='Path: ']";
  const title = document.querySelector<HTMLElement>(tab)?.title ?? "";
  return /Path: (.*)/.exec(title)?.[1];
}

/** The name under which a page is linked at a heading. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\s-]/gu, "")
    .replace(/\s/g, "-");

/**
 * Gives each link that is opened the address of its page; `addressOf` knows where pages are.
 * Returns what ends that.
 */
export function followPages(
  root: HTMLElement | Document,
  addressOf: (page: Page) => string | undefined,
): () => void {
  const onToggle = (event: Event) => {
    const opened = event.target as HTMLElement;
    if (!opened.matches?.(".nv-why")) return;
    for (const link of opened.querySelectorAll<HTMLAnchorElement>("a.nv-page")) {
      const { page: path, heading } = link.dataset;
      const address = addressOf({ path: path!, heading: heading! });
      if (!address) continue;
      link.href = address;
      link.target = "_blank";
    }
  };
  // A toggle does not bubble; on its way down it is heard.
  root.addEventListener("toggle", onToggle, true);
  return () => root.removeEventListener("toggle", onToggle, true);
}
