/** Whether there is still a Python that knows the panel. */
import type { Controls, Kernel } from "./model";

/** A kernel that has ended answers nothing, however long one waits; a busy one is still there. */
const ENDS = ["restarting", "autorestarting", "terminating", "dead"];

const ENDED = "No Python: this kernel has ended. Run the cell again.";
const LOST = "No Python: this page has lost its kernel.";
export const RESTARTED = "No Python: this kernel was restarted. Run the cell again.";

/** Says what is wrong, and nothing once it is right again. Returns what ends that. */
export function watch(kernel: Kernel | undefined, say: (words: string) => void): () => void {
  if (!kernel?.statusChanged) return () => {}; // a page without a server
  const { statusChanged, connectionStatusChanged, disposed } = kernel;
  let isOver = false;

  function ended() {
    isOver = true;
    say(ENDED);
  }
  function heard(_kernel: unknown, status: string) {
    if (ENDS.includes(status)) ended();
  }
  function joined(_kernel: unknown, status: string) {
    if (!isOver) say(status === "connected" ? "" : LOST);
  }

  statusChanged.connect(heard);
  connectionStatusChanged.connect(joined);
  disposed.connect(ended);
  return () => {
    statusChanged.disconnect(heard);
    connectionStatusChanged.disconnect(joined);
    disposed.disconnect(ended);
  };
}

/** A kernel that was restarted from another window does not know this panel any more. */
export async function isForgotten(
  kernel: Kernel | undefined,
  controls: Controls,
): Promise<boolean> {
  if (!kernel?.requestCommInfo) return false;
  const { content } = await kernel.requestCommInfo({ target_name: "jupyter.widget" });
  const isKnown = Object.values(controls).some(({ model_id: id }) => id in content.comms);
  return content.status === "ok" && !isKnown;
}
