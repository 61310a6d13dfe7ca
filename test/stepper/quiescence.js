// @ts-check
/** Waits until nothing more happens by itself: every actor is done, held at a gate, or blocked by a lock of another. */

/** How long to wait for an answer before the server is queried for blocked sessions. Most answers come at once. */
const ANSWER_MS = 2

/**
 * @param {{ query(text: string, values: unknown[]): Promise<{ rows: { pid: number, by: number[] }[] }> }} control
 * @param {Pick<ReturnType<typeof import('./gates.js').createGates>, 'held' | 'sent'>} gates
 * @param {ReadonlySet<string>} busy actors with an operation in progress
 */
export function createQuiescence(control, { held, sent }, busy) {
  let onChange = () => {}
  const nextChange = () =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ANSWER_MS)
      onChange = () => {
        clearTimeout(timer)
        resolve(undefined)
      }
    })
  const running = () => [...busy].filter((actor) => !held.has(actor))
  /** @type {ReadonlyMap<string, readonly string[]>} */
  let blocked = new Map()

  /**
   * The actors that block each of these actors.
   *
   * @param {readonly string[]} actors
   * @returns {Promise<ReadonlyMap<string, readonly string[]>>}
   */
  async function blockersOf(actors) {
    const text = 'select pid, pg_blocking_pids(pid) as by from unnest($1::int[]) pid'
    const { rows } = await control.query(text, [actors.map((actor) => sent.get(actor))])
    /** @type {Map<number, string>} */
    const names = new Map()
    for (const [actor, pid] of sent) names.set(pid, actor)
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
    changed: () => onChange(),
    /**
     * Resolves to the blocked actors, each with those that block it.
     *
     * @param {boolean} releasesLocks false: no lock was released, so blocked actors remain blocked
     */
    async wait(releasesLocks) {
      for (;;) {
        const before = running()
        if (before.length === 0) blocked = new Map()
        const areBlocked = !releasesLocks && before.every((actor) => blocked.has(actor))
        if (before.length === 0 || areBlocked) return blocked
        await nextChange()
        const after = running()
        const isUnchanged = after.length === before.length && after.every((actor) => before.includes(actor))
        if (!isUnchanged || !after.every((actor) => sent.has(actor))) continue
        const blockers = await blockersOf(after)
        // The server resolves a deadlock by itself.
        if (!after.every((actor) => blockers.has(actor)) || hasCycle(blockers)) continue
        blocked = blockers
        return blocked
      }
    },
  }
}

/** @param {ReadonlyMap<string, readonly string[]>} blocked */
export function hasCycle(blocked) {
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
