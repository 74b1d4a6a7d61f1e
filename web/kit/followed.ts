/** What a scene shows of its subject: where that leaps, the reader sees it on its way. */
import { interpolate } from "d3-interpolate";
import { tween } from "./motion";

export class Followed<State extends object> {
  /** Where the subject is, or on the way there; null until it is somewhere. */
  seen: State | null = null;
  private stopTween = () => {};

  /** `changed` hears whenever another state is to be seen. */
  constructor(private readonly changed: () => void) {}

  /** To another state at once. */
  put(next: State) {
    this.stopTween();
    this.seen = next;
    this.changed();
  }

  /** To another state on a way that one can follow. */
  leap(next: State, milliseconds?: number) {
    this.stopTween();
    const between: (share: number) => unknown = interpolate(this.seen, next);
    this.stopTween = tween((share) => {
      // d3 fills one object again and again.
      this.seen = share === 1 ? next : (structuredClone(between(share)) as State);
      this.changed();
    }, milliseconds);
    this.changed();
  }

  stop() {
    this.stopTween();
  }
}
