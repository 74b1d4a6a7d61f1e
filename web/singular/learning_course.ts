/** Layers that learn one target: how far they have come, and where they stand. */
import type { Triple } from "../kit/solids";
import type { FlowFacts, LearningPlace } from "./learning_facts";
import { Layers, distanceOf, normals } from "./learning_flow";
import { formsAt, restsOf, tripleOf, twinOf, type Rest } from "./learning_twin";

const GROWTH = 7; // of ▶'s time: slow at first, when most happens
const MOMENTS = [1, 10]; // times: layers gather along the sheets, and then at their ends
const CALM = 0.02; // a layer that is slower is called by the kind of its place
const RESTS = 1e-5; // and one that is slower than this has come to rest
const NEAR = 0.01; // of the least distance: so near a layer is the nearest one

/** A layer where it is now. */
export interface Standing {
  run: number;
  twin: Triple;
  /** From the target. */
  away: number;
  /** σ₂/σ₁ of A. */
  ratio: number;
  isSingular: boolean;
}

/** How many layers stand at a singular point, at the nearest layer, and in the second valley. */
export interface Ends {
  singular: number;
  near: number;
  second: number;
}

export class Course {
  /** Where a flow can rest: the nearest layer is known at once, and first. */
  rests: Rest[] = [];
  /** The layers have come to rest. */
  isOver = false;
  private readonly layers: Layers;
  private readonly forms = new Float64Array(6);

  constructor(private readonly flow: FlowFacts) {
    this.layers = new Layers(flow.runs, flow.tolerance);
  }

  get count(): number {
    return this.layers.count;
  }

  get time(): number {
    return this.layers.time;
  }

  /** Whether the target itself is a layer. */
  get isMet(): boolean {
    return this.rests[0].distance < NEAR;
  }

  /** The target is elsewhere: the layers go on from where they are. */
  aim(place: LearningPlace) {
    const forms = formsAt(place);
    this.layers.aim(forms);
    this.rests = restsOf(forms);
  }

  /** New layers with random weights. */
  restart(seed: number) {
    this.layers.restart(normals(seed));
    this.isOver = false;
  }

  /** Time passes while the target is held, whether or not the layers rest. */
  drift(time: number) {
    this.layers.advance(time);
  }

  /** The layers learn until this share of ▶'s time, which is slow at first. */
  learn(share: number) {
    const time = (this.flow.time * Math.expm1(GROWTH * share)) / Math.expm1(GROWTH);
    this.layers.advance(Math.max(0, time - this.time));
    const speeds = Array.from({ length: this.count }, (_, run) => this.layers.speed(run));
    this.isOver = this.time >= this.flow.time - 1e-6 || Math.max(...speeds) < RESTS;
  }

  /** The share of ▶'s time that has passed. */
  get share(): number {
    return this.shareOf(this.time);
  }

  get moments(): number[] {
    return MOMENTS.map((time) => this.shareOf(time));
  }

  private shareOf(time: number): number {
    return Math.log1p((time / this.flow.time) * Math.expm1(GROWTH)) / GROWTH;
  }

  /** Every layer as it stands now. */
  standings(): Standing[] {
    return Array.from({ length: this.count }, (_, run) => {
      this.layers.forms(run, this.forms);
      const ratio = this.layers.ratio(run);
      return {
        run,
        twin: tripleOf(twinOf(this.forms)),
        away: distanceOf(this.forms, this.layers.target),
        ratio,
        // At the start, and on its way past the yellow line, a layer is not at rest there.
        isSingular: ratio < this.flow.singular && this.time > 1 && this.layers.speed(run) < CALM,
      };
    });
  }

  endsOf(standings: Standing[]): Ends {
    const nearest = this.rests[0].distance;
    const second = this.rests.at(1)?.distance ?? Infinity; // a target may have one valley
    const ends = { singular: 0, near: 0, second: 0 };
    for (const { away, isSingular } of standings) {
      const isNear = away < nearest + NEAR;
      ends.near += Number(isNear);
      ends.second += Number(!isNear && Math.abs(away - second) < NEAR);
      ends.singular += Number(isSingular);
    }
    return ends;
  }
}
