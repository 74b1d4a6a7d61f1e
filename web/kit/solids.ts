/** Solids as plain numbers: tubes, balls, and where a ray meets them; without a graphics card. */

export type Triple = [x: number, y: number, z: number];

/** Triangles; three numbers a corner in `position` and `normal`, three corners a face. */
export interface Solid {
  position: number[];
  normal: number[];
  /** Red, green and blue of each corner, from 0 to 1; else a solid has one colour. */
  color?: number[];
  faces: number[];
}

export interface Ray {
  from: Triple;
  /** Of length 1. */
  way: Triple;
}

/** Where a ray meets a solid: the corners of the face, and how much of each there is. */
export interface Hit {
  depth: number;
  at: Triple;
  corners: Triple;
  shares: Triple;
}

export const plus = (a: Triple, t: number, b: Triple): Triple => [
  a[0] + t * b[0],
  a[1] + t * b[1],
  a[2] + t * b[2],
];
export const minus = (a: Triple, b: Triple): Triple => plus(a, -1, b);
export const dot = (a: Triple, b: Triple): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a: Triple, b: Triple): Triple => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
export const size = (a: Triple): number => Math.sqrt(dot(a, a));
export const unit = (a: Triple): Triple => plus([0, 0, 0], 1 / (size(a) || 1), a);
export const distance = (a: Triple, b: Triple): number => size(minus(a, b));
/** The point in the row `row` of a flat list. */
export const triple = (flat: ArrayLike<number>, row: number): Triple => [
  flat[3 * row],
  flat[3 * row + 1],
  flat[3 * row + 2],
];

/** Several solids as one. */
export function joined(solids: Solid[]): Solid {
  const all: Solid = { position: [], normal: [], faces: [] };
  for (const solid of solids) {
    const before = all.position.length / 3;
    for (const corner of solid.faces) all.faces.push(before + corner);
    for (const value of solid.position) all.position.push(value);
    for (const value of solid.normal) all.normal.push(value);
  }
  return all;
}

/** A tube along a path of two points or more, closed at its ends. */
export function tube(path: Triple[], radius: number, sides = 8): Solid {
  const solid: Solid = { position: [], normal: [], faces: [] };
  // One direction across is carried along the path, so that the tube is not twisted.
  let across: Triple = [0, 0, 0];
  path.forEach((at, index) => {
    const way = unit(
      minus(path[Math.min(index + 1, path.length - 1)], path[Math.max(index - 1, 0)]),
    );
    if (index === 0) across = Math.abs(way[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
    across = unit(plus(across, -dot(across, way), way));
    const other = cross(way, across);
    for (let side = 0; side < sides; side++) {
      const angle = (2 * Math.PI * side) / sides;
      const outward = plus(plus([0, 0, 0], Math.cos(angle), across), Math.sin(angle), other);
      solid.position.push(...plus(at, radius, outward));
      solid.normal.push(...outward);
    }
  });
  for (let ring = 0; ring + 1 < path.length; ring++) {
    for (let side = 0; side < sides; side++) {
      const next = (side + 1) % sides;
      const [a, b] = [ring * sides + side, ring * sides + next];
      solid.faces.push(a, b, b + sides, a, b + sides, a + sides);
    }
  }
  for (const [end, sign] of [
    [0, -1],
    [path.length - 1, 1],
  ]) {
    const near = path[end === 0 ? 1 : end - 1];
    const outward = unit(minus(path[end], near));
    const middle = solid.position.length / 3;
    solid.position.push(...path[end]);
    solid.normal.push(...outward);
    for (let side = 0; side < sides; side++) {
      const [a, b] = [end * sides + side, end * sides + ((side + 1) % sides)];
      solid.faces.push(middle, ...(sign > 0 ? [a, b] : [b, a]));
    }
  }
  return solid;
}

/** A ball around the origin. */
export function ball(radius: number, rows = 12): Solid {
  const solid: Solid = { position: [], normal: [], faces: [] };
  const columns = 2 * rows;
  for (let row = 0; row <= rows; row++) {
    const down = (Math.PI * row) / rows;
    for (let column = 0; column <= columns; column++) {
      const round = (2 * Math.PI * column) / columns;
      const flat = Math.sin(down);
      const outward: Triple = [flat * Math.cos(round), flat * Math.sin(round), Math.cos(down)];
      solid.position.push(...plus([0, 0, 0], radius, outward));
      solid.normal.push(...outward);
      if (row === rows || column === columns) continue;
      const here = row * (columns + 1) + column;
      const below = here + columns + 1;
      solid.faces.push(here, below, below + 1, here, below + 1, here + 1);
    }
  }
  return solid;
}

/**
 * Normals of a sheet: at each corner the mean of its faces, the large ones counting for more.
 * Numbers are read in place, as `hitsOf` does.
 */
export function normalsOf(position: number[], faces: number[]): number[] {
  const normals = new Array<number>(position.length).fill(0);
  for (let face = 0; face < faces.length; face += 3) {
    const a = 3 * faces[face];
    const b = 3 * faces[face + 1];
    const c = 3 * faces[face + 2];
    const abX = position[b] - position[a];
    const abY = position[b + 1] - position[a + 1];
    const abZ = position[b + 2] - position[a + 2];
    const acX = position[c] - position[a];
    const acY = position[c + 1] - position[a + 1];
    const acZ = position[c + 2] - position[a + 2];
    for (const corner of [a, b, c]) {
      normals[corner] += abY * acZ - abZ * acY;
      normals[corner + 1] += abZ * acX - abX * acZ;
      normals[corner + 2] += abX * acY - abY * acX;
    }
  }
  for (let corner = 0; corner < normals.length; corner += 3) {
    const length = size(triple(normals, corner / 3)) || 1;
    for (let axis = 0; axis < 3; axis++) normals[corner + axis] /= length;
  }
  return normals;
}

/**
 * All places where a ray meets a solid, on either side of its faces, the nearest first (Möller and
 * Trumbore). Numbers are read in place: a list for each corner would take four fifths of a drag.
 */
export function hitsOf({ position, faces }: Solid, ray: Ray): Hit[] {
  const hits: Hit[] = [];
  const [fromX, fromY, fromZ] = ray.from;
  const [wayX, wayY, wayZ] = ray.way;
  for (let face = 0; face < faces.length; face += 3) {
    const a = 3 * faces[face];
    const b = 3 * faces[face + 1];
    const c = 3 * faces[face + 2];
    const acX = position[c] - position[a];
    const acY = position[c + 1] - position[a + 1];
    const acZ = position[c + 2] - position[a + 2];
    const asideX = wayY * acZ - wayZ * acY;
    const asideY = wayZ * acX - wayX * acZ;
    const asideZ = wayX * acY - wayY * acX;
    const abX = position[b] - position[a];
    const abY = position[b + 1] - position[a + 1];
    const abZ = position[b + 2] - position[a + 2];
    const volume = abX * asideX + abY * asideY + abZ * asideZ;
    if (Math.abs(volume) < 1e-12) continue; // the ray lies in the plane of the face
    const awayX = fromX - position[a];
    const awayY = fromY - position[a + 1];
    const awayZ = fromZ - position[a + 2];
    const v = (awayX * asideX + awayY * asideY + awayZ * asideZ) / volume;
    if (v < 0 || v > 1) continue;
    const turnedX = awayY * abZ - awayZ * abY;
    const turnedY = awayZ * abX - awayX * abZ;
    const turnedZ = awayX * abY - awayY * abX;
    const w = (wayX * turnedX + wayY * turnedY + wayZ * turnedZ) / volume;
    const depth = (acX * turnedX + acY * turnedY + acZ * turnedZ) / volume;
    if (w < 0 || v + w > 1 || depth <= 0) continue;
    hits.push({
      depth,
      at: plus(ray.from, depth, ray.way),
      corners: [faces[face], faces[face + 1], faces[face + 2]],
      shares: [1 - v - w, v, w],
    });
  }
  return hits.sort((one, other) => one.depth - other.depth);
}
