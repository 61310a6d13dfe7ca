/** A sender whose requests never get a response: deliveries stay in flight, those behind them stay pending. */
export function createUnresponsiveSender() {
  const unresolved = new Set()
  return {
    send: () => new Promise((resolve) => unresolved.add(resolve)),
    async close() {
      for (const resolve of unresolved) resolve({ kind: 'own_fault', detail: 'closed' })
    },
  }
}
