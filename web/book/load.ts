/** Scripts beside the one that runs, so that a folder opened from a disk finds them too. */

// Only while the script runs for the first time does the page know which one it is.
export const FOLDER = new URL(".", (document.currentScript as HTMLScriptElement).src).href;

const loads: Record<string, Promise<void>> = {};

/** Runs a script once. */
export function load(file: string): Promise<void> {
  return (loads[file] ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = FOLDER + file;
    script.onload = () => resolve();
    script.onerror = () => reject(new Error(`${file} is missing`));
    document.head.append(script);
  }));
}

let style: HTMLLinkElement | undefined;

/** What the widgets of a live panel look like. */
export function loadStyle() {
  if (style) return;
  style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = `${FOLDER}live/live.css`;
  document.head.append(style);
}
