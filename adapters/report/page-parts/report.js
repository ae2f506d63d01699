/* The page of `classify report`: its rows are in the file. */

import { ReportPage } from "./report_page.js";
import { EmbeddedSource } from "./source.js";

new ReportPage(new EmbeddedSource()).start();
