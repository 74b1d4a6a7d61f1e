import { offer } from "../kit/sections";
import { blending } from "./blending";
import { uniqueness } from "./uniqueness";
import { unrolled } from "./unrolled";

offer("beyond", { blending, uniqueness, unrolled });
