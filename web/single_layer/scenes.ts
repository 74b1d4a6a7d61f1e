import { offer } from "../kit/sections";
import { fiber } from "./fiber";

offer("single_layer", { fiber });
