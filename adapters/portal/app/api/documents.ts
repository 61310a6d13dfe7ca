/** Documents of the API of which a service of another version may lack fields; for all others see `hookswitch/client`. */
type WebhookState = 'ok' | 'failing' | 'paused' | 'disabled' | 'idle'

/** One row of `GET webhooks/health`. */
export interface HealthRow {
  readonly id: string
  readonly name: string
  readonly uri: string
  readonly account_id?: string
  readonly group?: string
  readonly state: WebhookState
  readonly disable_reason?: string
  readonly failures_in_row?: number
  readonly failing_since?: string
  readonly paused_until?: string
  readonly pending?: number
  readonly pending_capped?: boolean
  readonly oldest_due_at?: string
  readonly last?: { readonly sent_at: string; readonly result: string; readonly resp_status_code?: string }
  readonly spark?: { readonly ok: readonly number[]; readonly failed: readonly number[] }
}

/** `PUT webhooks/preview`. */
export interface PreviewDocument {
  readonly method: string
  readonly uri: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly curl?: string
}

/** `GET system/overview`. */
export interface OverviewDocument {
  readonly pending?: number
  readonly oldest_due_seconds?: number | null
  readonly in_flight?: number
  readonly paused?: { readonly waiting: number; readonly probing: number }
  readonly disabled?: number
  readonly disabled_capped?: boolean
  readonly attempts_per_minute?: readonly number[]
  readonly nodes?: readonly {
    readonly node: string
    readonly alive_until?: string
    readonly shards?: number
    /** Shards that it is giving to other nodes. */
    readonly leaving?: number
  }[]
  readonly store?: { readonly durable: boolean; readonly shared: boolean }
  readonly version?: string
}
