// @ts-check
/** When nothing more happens by itself: every actor is done, at a gate, or waits for a lock that one of them holds. */

/** So long an answer is waited for before the server is asked who waits: most come at once. */
const ANSWERS_WITHIN_MS = 2

/**
 * @param {{ query(text: string, values: unknown[]): Promise<{ rows: { pid: number, by: number[] }[] }> }} control
 * @param {Pick<ReturnType<typeof import('./gates.js').createGates>, 'held' | 'asked'>} gates
 * @param {ReadonlySet<string>} busy actors in the middle of something
 */
export function createRest(control, { held, asked }, busy) {
  let wake = () => {}
  const change = () =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ANSWERS_WITHIN_MS)
      wake = () => {
        clearTimeout(timer)
        resolve(undefined)
      }
    })
  const restless = () => [...busy].filter((actor) => !held.has(actor))
  /** @type {ReadonlyMap<string, readonly string[]>} */
  let blocked = new Map()

  /**
   * Who waits for whom, as far as actors are concerned.
   *
   * @param {readonly string[]} actors
   * @returns {Promise<ReadonlyMap<string, readonly string[]>>}
   */
  async function waits(actors) {
    const text = 'select pid, pg_blocking_pids(pid) as by from unnest($1::int[]) pid'
    const { rows } = await control.query(text, [actors.map((actor) => asked.get(actor))])
    /** @type {Map<number, string>} */
    const names = new Map()
    for (const [actor, pid] of asked) names.set(pid, actor)
    for (const [actor, { pid }] of held) names.set(pid, actor)
    /** @type {Map<string, readonly string[]>} */
    const found = new Map()
    for (const { pid, by } of rows) {
      const actor = names.get(pid)
      const others = by.flatMap((other) => names.get(other) ?? [])
      if (actor !== undefined && others.length > 0) found.set(actor, others)
    }
    return found
  }

  return {
    changed: () => wake(),
    /**
     * Who is blocked then, and by whom.
     *
     * @param {boolean} frees false: nobody has let go of a lock, so who was blocked still is
     */
    async rest(frees) {
      for (;;) {
        const before = restless()
        if (before.length === 0) blocked = new Map()
        if (before.length === 0 || (!frees && before.every((actor) => blocked.has(actor)))) return blocked
        await change()
        const after = restless()
        const isSame = after.length === before.length && after.every((actor) => before.includes(actor))
        if (!isSame || !after.every((actor) => asked.has(actor))) continue
        const waiting = await waits(after)
        // In a circle the server has to say who gives up.
        if (!after.every((actor) => waiting.has(actor)) || isCircle(waiting)) continue
        blocked = waiting
        return blocked
      }
    },
  }
}

/** @param {ReadonlyMap<string, readonly string[]>} blocked */
export function isCircle(blocked) {
  for (const first of blocked.keys()) {
    /** @type {Set<string>} */
    const seen = new Set()
    const next = [...(blocked.get(first) ?? [])]
    for (let actor = next.pop(); actor !== undefined; actor = next.pop()) {
      if (actor === first) return true
      if (seen.has(actor)) continue
      seen.add(actor)
      next.push(...(blocked.get(actor) ?? []))
    }
  }
  return false
}
