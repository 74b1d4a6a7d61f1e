import { offer } from "../kit/sections";
import { factors } from "./factors";

offer("factorization", { factors });
