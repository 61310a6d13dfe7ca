/** A receiver that never answers: what is in flight stays so, what is behind it stays pending. */
export function deadSender() {
  const cuts = new Set()
  return {
    send: () => new Promise((resolve) => cuts.add(resolve)),
    async close() {
      for (const cut of cuts) cut({ kind: 'own_fault', detail: 'closed' })
    },
  }
}
