/** What the hands of the reader do beside two networks: all of them go the same way. */
import type { Point } from "../kit/picture";
import type { Both, Side, Stop } from "./uniqueness_way";

export interface Hands {
  begin(): void;
  end(): void;
  /** So many steps along the way. */
  step(steps: number): void;
  /** To where something that is seen comes nearest to the pointer. */
  near(seen: (both: Both) => Point, pointer: Point, isOfLayer?: boolean): void;
  way(): {
    stops: Stop[];
    /** Places with the same moved layer as here. */
    ofLayer: Stop[];
    moved: number;
    /** The last layer that is ever moved. */
    movedLast: number;
    name(side: Side): string;
  };
}
