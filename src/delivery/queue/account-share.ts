/** What waits for the webhooks of one account. Written only by the queue. */
export class AccountShare {
  /** Deliveries that wait to be sent. */
  backlog = 0
  /** Endpoints of the account in the queue. */
  endpoints = 0

  constructor(readonly accountId: string) {}
}
