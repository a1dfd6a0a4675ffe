/** Images, sounds and files of a result. Their data and addresses come from outside. */

/** @import { MediaPart } from "./types" */
import { h } from "./dom.js";

const IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]*={0,2}$/;

/** Whether a source can only be a picture: it runs nothing and fetches nothing. @param {unknown} src */
export const isImage = (src) => typeof src === "string" && IMAGE.test(src);

/** Whether an address may be a link. @param {unknown} href */
export const isLink = (href) => typeof href === "string" && href.startsWith("https://");

/** @param {MediaPart[]} parts */
export function mediaOf(parts) {
  return h("div", { class: "agt-media" }, parts.map(partOf));
}

/** @param {MediaPart} part */
function partOf({ about, src, href }) {
  const words = isLink(href)
    ? h("a", { href, target: "_blank", rel: "noopener noreferrer" }, about)
    : about;
  return h(
    "figure",
    { class: "agt-figure" },
    isImage(src) && h("img", { class: "agt-image", src, alt: about }),
    h("figcaption", { class: "agt-quiet agt-figcaption" }, words),
  );
}
