/** Turns of the event loop without a pause, before `until` sleeps between probes. */
const BUSY_TURNS = 200

/**
 * Waits for a condition that depends on real I/O. Resolves to the first result of `probe` that is not false,
 * undefined, null, 0 or ''.
 *
 * Calls `probe` on every turn of the event loop, after 200 turns every millisecond. If there is an event to wait for
 * (the receiver's `next`, a listener of the host), prefer that.
 *
 * @param options.timeoutMs real milliseconds after which it rejects. Default is 10,000.
 * @param options.description the condition, for the message of that rejection. Default is the source of `probe`.
 * @throws Error after `timeoutMs`; what `probe` throws
 */
export async function until<T>(
  probe: () => T | Promise<T>,
  options: { readonly timeoutMs?: number | undefined; readonly description?: string | undefined } = {},
): Promise<NonNullable<T>> {
  const { timeoutMs = 10_000, description = probe.toString() } = options
  const endMs = performance.now() + timeoutMs
  for (let turn = 0; ; turn += 1) {
    // Before the probe: after a long stall there is one more look.
    const isOver = performance.now() >= endMs
    const found = await probe()
    if (found) return found
    if (isOver) throw new Error(`timed out after ${timeoutMs} ms: ${description}`)
    await new Promise<void>((resolve) => {
      if (turn < BUSY_TURNS) setImmediate(resolve)
      else setTimeout(resolve, 1)
    })
  }
}
