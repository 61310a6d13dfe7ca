/** Where a delivery in flight is: its row and its lane. */
export interface Flight {
  readonly webhookId: string
  readonly key: number
  readonly lane: string
  readonly fence: number
  /** Where its row is, as far as nobody moved it. */
  readonly ctid: string
}

/** What this node has in flight, as it was claimed: what settles it need not look for it. */
export interface Flights {
  begin(webhookId: string, row: Omit<Flight, 'webhookId'> & { readonly id: string }): void
  /** Of this claim of the delivery; `undefined`: unknown here. */
  of(deliveryId: string, fence: number): Flight | undefined
  end(deliveryId: string): void
}

/** Above what any node has in flight; what is forgotten is looked for. */
const MOST = 20_000

export function createFlights(): Flights {
  const flights = new Map<string, Flight>()
  return {
    begin(webhookId, { id, key, lane, fence, ctid }) {
      flights.delete(id)
      flights.set(id, { webhookId, key, lane, fence, ctid })
      if (flights.size > MOST) flights.delete(flights.keys().next().value!)
    },
    of(deliveryId, fence) {
      const flight = flights.get(deliveryId)
      return flight?.fence === fence ? flight : undefined
    },
    end(deliveryId) {
      flights.delete(deliveryId)
    },
  }
}
