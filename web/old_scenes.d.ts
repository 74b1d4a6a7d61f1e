import type { painterOf } from "./kit/painter";

type Painter = ReturnType<typeof painterOf>;
export function asOnce(painter: Painter): Painter;
