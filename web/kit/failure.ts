/**
 * What fails while a picture is held or moves by itself: the painter says so in its place, as an
 * old picture would stand beside controls that have moved.
 */

/** The class of what stands in the place of a picture that failed. */
export const FAILED = "nv-failed";

/** What is said of it, there and in the status line. */
export const UNDRAWN = "the picture cannot be drawn";

const FAILURE = "nv-failure";

/** `act`, whose error the painter of this node's scene hears of; the console gets it, too. */
export function orFail<Given extends unknown[]>(node: Element, act: (...given: Given) => void) {
  return (...given: Given) => {
    try {
      act(...given);
    } catch (error) {
      node.dispatchEvent(new CustomEvent(FAILURE, { bubbles: true, detail: error }));
      throw error;
    }
  };
}

/** Hears of what fails in a scene. */
export function onFailure(host: Element, failed: (error: unknown) => void) {
  host.addEventListener(FAILURE, (event) => failed((event as CustomEvent<unknown>).detail));
}
