/* The page of `classify compare`. */

import { ComparePage } from "./compare_page.js";
import { EmbeddedSource } from "./source.js";

new ComparePage(new EmbeddedSource()).start();
