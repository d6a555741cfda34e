/** Whether the engine computes its relaxed dot product right. Internal. */

/** (a, w, total) => lane 0 of i32x4.relaxed_dot_i8x16_i7x16_add_s of them, in all lanes. */
// prettier-ignore
const MODULE = [
  0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00,
  0x01, 0x08, 0x01, 0x60, 0x03, 0x7f, 0x7f, 0x7f, 0x01, 0x7f, // type (i32, i32, i32) -> i32
  0x03, 0x02, 0x01, 0x00,
  0x07, 0x05, 0x01, 0x01, 0x64, 0x00, 0x00, // export "d"
  0x0a, 0x16, 0x01, 0x14, 0x00,
  0x20, 0x00, 0xfd, 0x0f, 0x20, 0x01, 0xfd, 0x0f, 0x20, 0x02, 0xfd, 0x11, // i8x16.splat twice, i32x4.splat
  0xfd, 0x93, 0x02, 0xfd, 0x1b, 0x00, 0x0b, // the dot product, extract_lane
];

/**
 * The first compiler of V8 before version 11.4 (Node 20) adds the products twice. An engine keeps the code of modules
 * that it knows, so that each `attempt` is a module of its own.
 */
export function relaxedDotIsRight(attempt = 0): boolean {
  const custom = [0x00, 0x02, 0x01, attempt]; // a section named by the attempt
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.from([...MODULE, ...custom])));
  const dot = exports['d'] as (a: number, w: number, total: number) => number;
  return dot(-3, 5, 7) === 4 * -3 * 5 + 7 && dot(-128, 127, -1) === 4 * -128 * 127 - 1;
}
