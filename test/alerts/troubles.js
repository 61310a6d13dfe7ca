// @ts-check
/** Loaded into a node by `--import`: makes it ill when its parent says so. A message has one of these fields. */

/** @typedef {{ clockMs?: number, blockMs?: number, heapPart?: number }} Trouble */

import { getHeapStatistics } from 'node:v8'

const machineNow = Date.now
/** How far the wall clock is ahead, ms. */
let aheadMs = Number(process.env.AHEAD_MS ?? 0)
/** @type {NodeJS.Timeout | undefined} */
let blocking
/** @type {unknown[]} */
const kept = []

Date.now = () => machineNow() + aheadMs

process.on('message', (/** @type {Trouble} */ { clockMs, blockMs, heapPart }) => {
  if (clockMs !== undefined) aheadMs = clockMs
  if (blockMs !== undefined) block(blockMs)
  if (heapPart !== undefined) fillHeap(heapPart)
})
// A node that is told to end must not wait for its parent.
process.channel?.unref()

/** Blocks the event loop for so long in every third of the time. @param {number} ms 0: no more */
function block(ms) {
  clearInterval(blocking)
  if (ms === 0) return
  blocking = setInterval(() => {
    const untilMs = performance.now() + ms
    while (performance.now() < untilMs);
  }, 3 * ms)
}

/** Keeps objects until a part of the heap's limit is used. @param {number} part */
function fillHeap(part) {
  for (;;) {
    const { used_heap_size, heap_size_limit } = getHeapStatistics()
    if (used_heap_size >= part * heap_size_limit) return
    kept.push(new Array(500_000).fill(0))
  }
}
