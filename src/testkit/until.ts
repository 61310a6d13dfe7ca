/** Turns of the event loop tried one after the other before `until` leaves the processor to others. */
const EAGER_TURNS = 200

/**
 * Waits for a condition that real input and output brings about, and resolves to what `probe` then returned:
 * the first value that is not false, undefined, null, 0 or ''.
 *
 * It looks once every turn of the event loop, after a while every millisecond. Where there is an event to wait
 * for (the receiver's `next`, a host's listener), wait for that.
 *
 * @param options.timeoutMs real milliseconds before it rejects, default 10,000: only a failing test gets there
 * @param options.what what is waited for, for the sentence of that rejection
 */
export async function until<T>(
  probe: () => T | Promise<T>,
  options: { readonly timeoutMs?: number; readonly what?: string } = {},
): Promise<NonNullable<T>> {
  const { timeoutMs = 10_000, what = probe.toString() } = options
  const endMs = performance.now() + timeoutMs
  for (let turn = 0; ; turn += 1) {
    const found = await probe()
    if (found) return found
    if (performance.now() >= endMs) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`)
    await new Promise<void>((resolve) => {
      if (turn < EAGER_TURNS) setImmediate(resolve)
      else setTimeout(resolve, 1)
    })
  }
}
