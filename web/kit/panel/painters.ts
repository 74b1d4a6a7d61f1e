/** What draws figures, such as plotly.js: it comes once a page, and all charts share it. */
import { unpack, type PainterOf } from "./unpack";

const LOOK_EVERY = 500; // milliseconds
const ASK_AGAIN = 5000;

/** A painter that this page has, or waits for. */
class Arrival<Painter> {
  readonly ready: Promise<Painter>;
  private isTaken = false;
  private asked = 0;
  private resolve!: (painter: Painter) => void;
  private reject!: (error: unknown) => void;

  constructor() {
    this.ready = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** Its compressed script has come. */
  take(bytes: BlobPart) {
    if (this.isTaken) return;
    this.isTaken = true;
    unpack<Painter>(bytes).then(this.resolve, this.reject);
  }

  /**
   * The first chart of a kernel brings its painter. A page that opened later asks, one chart at a
   * time: the one that asked may be closed before the answer.
   */
  askUntilThere(ask: () => void): () => void {
    const timer = setInterval(() => {
      if (this.isTaken) return clearInterval(timer);
      if (Date.now() - this.asked < ASK_AGAIN) return;
      this.asked = Date.now();
      ask();
    }, LOOK_EVERY);
    return () => clearInterval(timer);
  }
}

declare global {
  // Each widget has this file for itself: what a page has once stands here.
  var neurovizPainters: Record<string, Arrival<unknown>> | undefined;
}

export function painterNamed<Name extends string>(name: Name): Arrival<PainterOf<Name>> {
  const all = (globalThis.neurovizPainters ??= {});
  return (all[name] ??= new Arrival()) as Arrival<PainterOf<Name>>;
}
