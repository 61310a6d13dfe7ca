/** A row of the lists of webhooks. Type only. */
import type { EndpointHealth } from 'hookswitch/client'

/** One row of `GET webhooks/health`, or of `GET system/endpoints`, which has the account too. */
export type HealthRow = EndpointHealth & { readonly account_id?: string; readonly account_name?: string }
