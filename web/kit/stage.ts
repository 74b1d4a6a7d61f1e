/** Solids on a canvas, by OGL. All is kept as numbers, as a graphics card may lose it. */
import {
  Camera,
  Geometry,
  Mesh,
  Program,
  Renderer,
  Transform,
  type OGLRenderingContext,
} from "ogl";
import type { Solid, Triple } from "./solids";

const VERTEX = `#version 300 es
in vec3 position;
in vec3 normal;
in vec3 color;
uniform mat4 modelViewMatrix;
uniform mat4 projectionMatrix;
out vec3 tint;
out vec3 outward;
void main() {
  tint = color;
  outward = normal;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;

// Lambert's law: what is turned to the sun is lighter; a sheet has light on both of its sides.
const FRAGMENT = `#version 300 es
precision highp float;
in vec3 tint;
in vec3 outward;
uniform vec3 sun;
uniform float light;
uniform float opacity;
out vec4 pixel;
void main() {
  vec3 up = gl_FrontFacing ? normalize(outward) : -normalize(outward);
  float share = 0.8 + 0.23 * max(dot(up, sun), 0.0);
  pixel = vec4(tint * mix(1.0, share, light), opacity);
}`;

const SUN = [2, -6, 9].map((t) => t / Math.hypot(2, -6, 9));

/** How a solid looks. */
export interface Look {
  /** A code, if its corners have no colours. */
  color?: string;
  /** Without light it is even. */
  isLit?: boolean;
  /** Less than 1: what is behind it is seen through it. */
  opacity?: number;
  /** Which part is drawn: the faces that look away, or what is hidden behind other solids. */
  part?: "inside" | "hidden";
  /** Two corners a line, in place of three a face. */
  isLines?: boolean;
}

/** A solid that is drawn. */
export interface Thing {
  show(isShown: boolean): void;
  moveTo(at: Triple): void;
  /** Another form, in the same look. */
  change(solid: Solid): void;
  remove(): void;
}

interface Kept {
  solid: Solid;
  look: Look;
  at: Triple;
  isShown: boolean;
  mesh?: Mesh;
}

export class Stage {
  private renderer?: Renderer;
  private readonly programs = new Map<string, Program>();
  private world = new Transform();
  private readonly all = new Set<Kept>();
  private ground: Triple = [1, 1, 1];
  private size: [number, number] = [1, 1];
  private ratio = 2; // smooth edges

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.begin();
  }

  /** Whether the browser can draw. */
  get isThere(): boolean {
    return this.renderer !== undefined;
  }

  /** Anew, after the graphics card was lost. */
  begin() {
    if (!this.canvas.getContext("webgl2", { antialias: false, powerPreference: "low-power" })) {
      return;
    }
    const [width, height] = this.size;
    this.renderer = new Renderer({ canvas: this.canvas, dpr: this.ratio, width, height });
    this.programs.clear();
    this.world = new Transform();
    this.background(this.ground);
    for (const kept of this.all) this.put(kept);
  }

  resize(wide: number, tall: number) {
    this.size = [wide, tall];
    this.renderer?.setSize(wide, tall);
  }

  /** How many pixels of the canvas make one of the page. */
  dense(ratio: number) {
    if (ratio === this.ratio || !this.renderer) return;
    this.ratio = this.renderer.dpr = ratio;
    this.resize(...this.size);
  }

  background(color: Triple | string) {
    this.ground = typeof color === "string" ? rgb(color) : color;
    this.renderer?.gl.clearColor(...this.ground, 1);
  }

  add(solid: Solid, look: Look): Thing {
    const kept: Kept = { solid, look, at: [0, 0, 0], isShown: true };
    this.all.add(kept);
    this.put(kept);
    return {
      show(isShown) {
        kept.isShown = isShown;
        if (kept.mesh) kept.mesh.visible = isShown;
      },
      moveTo(at) {
        kept.at = at;
        kept.mesh?.position.set(...at);
      },
      change: (form) => {
        const isAlike = isMoved(kept.solid, form);
        kept.solid = form;
        if (isAlike && kept.mesh) return move(kept.mesh, form);
        this.drop(kept);
        this.put(kept);
      },
      remove: () => {
        this.drop(kept);
        this.all.delete(kept);
      },
    };
  }

  render(camera: Camera) {
    this.renderer?.render({ scene: this.world, camera, frustumCull: false });
  }

  close() {
    for (const kept of this.all) this.drop(kept);
    this.all.clear();
  }

  private put(kept: Kept) {
    if (!this.renderer) return;
    const { solid, look } = kept;
    const { gl } = this.renderer;
    const one = look.color === undefined ? [0, 0, 0] : rgb(look.color);
    const color = solid.color ?? solid.position.map((_, n) => one[n % 3]);
    const geometry = new Geometry(gl, {
      position: { size: 3, data: new Float32Array(solid.position) },
      normal: { size: 3, data: new Float32Array(solid.normal) },
      color: { size: 3, data: new Float32Array(color) },
      index: { data: new Uint32Array(solid.faces) },
    });
    const mode = look.isLines ? gl.LINES : gl.TRIANGLES;
    kept.mesh = new Mesh(gl, { geometry, program: this.programOf(look, gl), mode });
    kept.mesh.position.set(...kept.at);
    kept.mesh.visible = kept.isShown;
    kept.mesh.setParent(this.world);
  }

  /** What is seen through is drawn after all others, and hides nothing behind it. */
  private programOf({ isLit = true, opacity = 1, part }: Look, gl: OGLRenderingContext): Program {
    const key = `${isLit} ${opacity} ${part}`;
    const known = this.programs.get(key);
    if (known) return known;
    const program = new Program(gl, {
      vertex: VERTEX,
      fragment: FRAGMENT,
      uniforms: {
        sun: { value: SUN },
        light: { value: Number(isLit) },
        opacity: { value: opacity },
      },
      // Of what is hidden the far side is left out: a ball would be behind itself.
      cullFace: part === "inside" ? gl.FRONT : part === "hidden" ? gl.BACK : false,
      depthFunc: part === "hidden" ? gl.GREATER : gl.LEQUAL,
      transparent: opacity < 1,
      depthWrite: opacity === 1,
    });
    if (opacity < 1) {
      // The canvas itself stays solid: what is behind it in the page is not seen.
      program.setBlendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    }
    this.programs.set(key, program);
    return program;
  }

  private drop(kept: Kept) {
    kept.mesh?.setParent(null);
    kept.mesh?.geometry.remove();
    kept.mesh = undefined;
  }
}

/** Whether a solid is another one with corners elsewhere, so that its buffers can stay. */
const isMoved = (before: Solid, after: Solid) =>
  before.faces === after.faces &&
  before.position.length === after.position.length &&
  !before.color === !after.color;

function move({ geometry }: Mesh, solid: Solid) {
  for (const name of ["position", "normal", "color"] as const) {
    const values = solid[name];
    if (!values) continue;
    const attribute = geometry.attributes[name];
    (attribute.data as Float32Array).set(values);
    attribute.needsUpdate = true;
  }
}

/** Red, green and blue of a code of six digits, from 0 to 1, as they are written. */
export function rgb(code: string): Triple {
  const channel = (start: number) => parseInt(code.slice(start, start + 2), 16) / 255;
  return [channel(1), channel(3), channel(5)];
}
