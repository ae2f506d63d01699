/* The page of `classify view`: its rows arrive from the server that it came from. */

import { LivePage } from "./live_page.js";
import { LiveSource } from "./live_source.js";

new LivePage(new LiveSource()).start();
