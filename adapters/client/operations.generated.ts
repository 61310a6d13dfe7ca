// Made by "npm run generate" from the OpenAPI document in src/wire/openapi.ts. Do not edit.
import type { ApiResponse, CallOptions, Endpoint } from './call.js'
import type { List } from './list.js'

/** Settings of a webhook. Other public keys are stored as they are. */
export interface WebhookSettings {
  /** Label of the webhook. */
  readonly name: string
  /** http or https URL that receives the requests. Shown in its canonical form. */
  readonly uri: string
  /** Kind of event to listen to: an id of the catalogue of hooks, or `all`. */
  readonly hook: string
  /** With `hook: all`: only these kinds of events, ids of the catalogue. */
  readonly only?: readonly string[]
  /** Only events whose payload passes this filter: an object with one of the keys `exact`, `prefix`, `suffix` (fields and their values), `all`, `any` (lists of filters) and `not` (a filter), as in CloudEvents Subscriptions 1.0. A dotted name selects a nested field. */
  readonly filter?: Readonly<Record<string, unknown>>
  /** HTTP method of the requests. */
  readonly http_verb?: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** How often a delivery that the receiver rejects is sent again. A receiver that is unavailable costs no retry. Where the retry policy is `kazoo`: attempts in all, after which no answer came. */
  readonly retries?: number
  /** Body format of the requests: JSON or form fields. */
  readonly format?: 'json' | 'form-data'
  /** Whether events are delivered. Enabling resets the failure counts. */
  readonly enabled?: boolean
  /** Also deliver the events of every account below this one. */
  readonly include_subaccounts?: boolean
  /** Also deliver the events of loopback legs. */
  readonly include_internal_legs?: boolean
  /** Merged into every event, overriding its fields; the keys `type` and `action` are dropped first. Not allowed, in any case: `hook_event`, `account_id`, `call_id`, `ordering_key`, `call_group_id`, `timestamp`, `happened_at`, `webhook_id`, `delivery_id`, `event_id`, `sequence`, `answered_by`, `endpoint`, `duration_ms`, `ringing_ms`, `billing_ms`, and `id` with the hook `object`. */
  readonly custom_data?: Readonly<Record<string, string>>
  /** Headers added to every request, at most 4 KiB. Not allowed: hop-by-hop headers, `host`, `content-*`, `webhook-*`, `x-hook-*`, `x-account-id`, and what says who sends a request or where it comes from, such as `x-forwarded-*`. Who may not change webhooks sees `[redacted]` in place of each value; in a request it stands for the stored value. */
  readonly custom_request_headers?: Readonly<Record<string, string>>
  /** A label for grouping webhooks. */
  readonly group?: string
  /** A delivery that was accepted longer ago than this, in seconds, is not sent but recorded as `expired`. That of a replay counts from the replay. Default: that of the service, which `_read_only.max_age_seconds` shows. */
  readonly max_age_seconds?: number
  /** Most requests per second, fractions allowed: 0.1 is one in ten seconds. Each node of the service counts its own. Default: that of the service, which may be none. */
  readonly rate_limit?: number
  /** `call`: the events of one call are sent in order, but an event that keeps failing while others are taken holds back the next ones for a limited time only. `strict`: until it has ended. `none`: without regard to order. */
  readonly ordering?: 'call' | 'strict' | 'none'
}

/** JSON merge patch (RFC 7396); `null` removes a field. */
export interface WebhookPatch {
  /** New value of `name`; null removes it. */
  readonly name?: string | null
  /** New value of `uri`; null removes it. */
  readonly uri?: string | null
  /** New value of `hook`; null removes it. */
  readonly hook?: string | null
  /** New value of `only`; null removes it. */
  readonly only?: readonly string[] | null
  /** New value of `filter`; null removes it. */
  readonly filter?: Readonly<Record<string, unknown>> | null
  /** New value of `http_verb`; null removes it. */
  readonly http_verb?: 'get' | 'post' | 'put' | 'patch' | 'delete' | null
  /** New value of `retries`; null removes it. */
  readonly retries?: number | null
  /** New value of `format`; null removes it. */
  readonly format?: 'json' | 'form-data' | null
  /** New value of `enabled`; null removes it. */
  readonly enabled?: boolean | null
  /** New value of `include_subaccounts`; null removes it. */
  readonly include_subaccounts?: boolean | null
  /** New value of `include_internal_legs`; null removes it. */
  readonly include_internal_legs?: boolean | null
  /** New value of `custom_data`; null removes it. */
  readonly custom_data?: Readonly<Record<string, string>> | null
  /** New value of `custom_request_headers`; null removes it. */
  readonly custom_request_headers?: Readonly<Record<string, string>> | null
  /** New value of `group`; null removes it. */
  readonly group?: string | null
  /** New value of `max_age_seconds`; null removes it. */
  readonly max_age_seconds?: number | null
  /** New value of `rate_limit`; null removes it. */
  readonly rate_limit?: number | null
  /** New value of `ordering`; null removes it. */
  readonly ordering?: 'call' | 'strict' | 'none' | null
}

/** A whole webhook, with defaults filled in. */
export interface Webhook {
  /** Id of the webhook. */
  readonly id: string
  /** Label of the webhook. */
  readonly name: string
  /** http or https URL that receives the requests. Shown in its canonical form. */
  readonly uri: string
  /** Kind of event to listen to: an id of the catalogue of hooks, or `all`. */
  readonly hook: string
  /** With `hook: all`: only these kinds of events, ids of the catalogue. */
  readonly only?: readonly string[]
  /** Only events whose payload passes this filter: an object with one of the keys `exact`, `prefix`, `suffix` (fields and their values), `all`, `any` (lists of filters) and `not` (a filter), as in CloudEvents Subscriptions 1.0. A dotted name selects a nested field. */
  readonly filter?: Readonly<Record<string, unknown>>
  /** HTTP method of the requests. */
  readonly http_verb: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** How often a delivery that the receiver rejects is sent again. A receiver that is unavailable costs no retry. Where the retry policy is `kazoo`: attempts in all, after which no answer came. */
  readonly retries: number
  /** Body format of the requests: JSON or form fields. */
  readonly format: 'json' | 'form-data'
  /** Whether events are delivered. Enabling resets the failure counts. */
  readonly enabled: boolean
  /** Also deliver the events of every account below this one. */
  readonly include_subaccounts: boolean
  /** Also deliver the events of loopback legs. */
  readonly include_internal_legs: boolean
  /** Merged into every event, overriding its fields; the keys `type` and `action` are dropped first. Not allowed, in any case: `hook_event`, `account_id`, `call_id`, `ordering_key`, `call_group_id`, `timestamp`, `happened_at`, `webhook_id`, `delivery_id`, `event_id`, `sequence`, `answered_by`, `endpoint`, `duration_ms`, `ringing_ms`, `billing_ms`, and `id` with the hook `object`. */
  readonly custom_data?: Readonly<Record<string, string>>
  /** Headers added to every request, at most 4 KiB. Not allowed: hop-by-hop headers, `host`, `content-*`, `webhook-*`, `x-hook-*`, `x-account-id`, and what says who sends a request or where it comes from, such as `x-forwarded-*`. Who may not change webhooks sees `[redacted]` in place of each value; in a request it stands for the stored value. */
  readonly custom_request_headers?: Readonly<Record<string, string>>
  /** A label for grouping webhooks. */
  readonly group?: string
  /** A delivery that was accepted longer ago than this, in seconds, is not sent but recorded as `expired`. That of a replay counts from the replay. Default: that of the service, which `_read_only.max_age_seconds` shows. */
  readonly max_age_seconds?: number
  /** Most requests per second, fractions allowed: 0.1 is one in ten seconds. Each node of the service counts its own. Default: that of the service, which may be none. */
  readonly rate_limit?: number
  /** `call`: the events of one call are sent in order, but an event that keeps failing while others are taken holds back the next ones for a limited time only. `strict`: until it has ended. `none`: without regard to order. */
  readonly ordering: 'call' | 'strict' | 'none'
  /** Why the service disabled the webhook; absent if its owner disabled it. */
  readonly disable_reason?: string
  /** Set by the service. */
  readonly _read_only: {
    /** Time of creation, in Gregorian seconds. */
    readonly created: number
    /** Time of the last change, in Gregorian seconds. */
    readonly modified: number
    /** Time when it was last enabled, in Gregorian seconds. */
    readonly enabled_at?: number
    /** Time when it was last disabled, in Gregorian seconds. */
    readonly disabled_at?: number
    /** The maximum age in force, in seconds: a delivery that was accepted longer ago is not sent. That of the webhook, or else of the service. */
    readonly max_age_seconds: number
    /** Present, and true, in the response to DELETE. */
    readonly deleted?: boolean
  }
  /** Whether events reach the webhook. Set by the service; it changes without a new revision, so ask for it without `If-None-Match`. */
  readonly health: {
    /** `paused`: nothing is sent before `paused_until`. `failing`: the last attempt failed. `disabled`: by its owner or by the service. */
    readonly state: 'ok' | 'failing' | 'paused' | 'disabled'
    /** Failures since the last success. */
    readonly failures_in_row: number
    /** Time of the first failure since the last success. */
    readonly failing_since?: string
    /** End of the pause; only in the state `paused`. */
    readonly paused_until?: string
    /** Time of the last success; absent if none is among the newest 1,000 attempts that are kept. */
    readonly last_success_at?: string
    /** Time when the service last tried to connect to the receiver without sending a request, which it does during a pause of a receiver that cannot be reached; absent if it did not. */
    readonly checked_at?: string
    /** Why the connection at `checked_at` failed; absent if it stood. */
    readonly check_cause?: 'refused' | 'reset' | 'unreachable' | 'closed_early' | 'timeout_name' | 'timeout_connect' | 'timeout_tls' | 'timeout_answer' | 'name_unknown' | 'name_server' | 'certificate_expired' | 'certificate_not_yet_valid' | 'certificate_self_signed' | 'certificate_name' | 'certificate_issuer' | 'certificate_invalid' | 'certificate_required' | 'tls_version' | 'tls_failed' | 'not_tls' | 'not_http' | 'head_too_large' | 'request_invalid' | 'proxy_failed' | 'blocked_address' | 'connection_failed'
  }
}

/** A webhook in a list. */
export interface WebhookSummary {
  /** Id of the webhook. */
  readonly id: string
  /** Kind of event to listen to: an id of the catalogue of hooks, or `all`. */
  readonly hook: string
  /** Label of the webhook. */
  readonly name: string
  /** http or https URL that receives the requests. Shown in its canonical form. */
  readonly uri: string
  /** A label for grouping webhooks. */
  readonly group?: string
  /** Whether events are delivered. Enabling resets the failure counts. */
  readonly enabled: boolean
  /** Why the service disabled the webhook; absent if its owner disabled it. */
  readonly disable_reason?: string
  /** Whether events reach the webhook. Set by the service; it changes without a new revision, so ask for it without `If-None-Match`. */
  readonly health: {
    /** `paused`: nothing is sent before `paused_until`. `failing`: the last attempt failed. `disabled`: by its owner or by the service. */
    readonly state: 'ok' | 'failing' | 'paused' | 'disabled'
    /** Failures since the last success. */
    readonly failures_in_row: number
    /** Time of the first failure since the last success. */
    readonly failing_since?: string
    /** End of the pause; only in the state `paused`. */
    readonly paused_until?: string
    /** Time of the last success; absent if none is among the newest 1,000 attempts that are kept. */
    readonly last_success_at?: string
    /** Time when the service last tried to connect to the receiver without sending a request, which it does during a pause of a receiver that cannot be reached; absent if it did not. */
    readonly checked_at?: string
    /** Why the connection at `checked_at` failed; absent if it stood. */
    readonly check_cause?: 'refused' | 'reset' | 'unreachable' | 'closed_early' | 'timeout_name' | 'timeout_connect' | 'timeout_tls' | 'timeout_answer' | 'name_unknown' | 'name_server' | 'certificate_expired' | 'certificate_not_yet_valid' | 'certificate_self_signed' | 'certificate_name' | 'certificate_issuer' | 'certificate_invalid' | 'certificate_required' | 'tls_version' | 'tls_failed' | 'not_tls' | 'not_http' | 'head_too_large' | 'request_invalid' | 'proxy_failed' | 'blocked_address' | 'connection_failed'
  }
}

/** The schema `Attempt` of the API. */
export interface Attempt {
  /** Id of the record. */
  readonly id: string
  /** Id of the webhook. */
  readonly hook_id: string
  /** Event type, as in the catalogue. */
  readonly hook_event: string
  /** Id of the event. */
  readonly event_id: string
  /** Id of the delivery: one event for one webhook. */
  readonly delivery_id: string
  /** URL of the request. */
  readonly uri: string
  /** HTTP method in lower case. */
  readonly method: string
  /** Number of retries left after this attempt. */
  readonly retries_left: number
  /** Number of tries left before this attempt: `retries_left` + 1 (KAZOO). */
  readonly retries: number
  /** Value of `result`. */
  readonly result: 'success' | 'failure'
  /** Time when the request was sent, or when the delivery ended without one, in Gregorian seconds. */
  readonly timestamp: number
  /** The same time in ISO 8601. */
  readonly sent_at: string
  /** Id of the call leg. */
  readonly call_id?: string
  /** The parties of the call leg; absent where the event names none, or is no longer stored. */
  readonly call?: {
    /** Calling party: a number, or a SIP user with its domain. */
    readonly from?: string
    /** Called party: a number, or a SIP user with its domain. */
    readonly to?: string
    /** `inbound` or `outbound`. */
    readonly direction?: string
  }
  /** Name of the caller; absent where the event has none. */
  readonly caller_name?: string
  /** Number of the attempt: 1, 2, …; absent if the delivery ended without a request. */
  readonly attempt?: number
  /** Why the attempt failed, or why the delivery ended without a request. */
  readonly reason?: string
  /** Class of the failure. */
  readonly client_error?: string
  /** Cause of the failure, more exact than its class. Causes may be added. */
  readonly cause?: string
  /** What was observed, in one line: why it failed, or what was wrong with an accepted response. */
  readonly detail?: string
  /** True: it was sent while an earlier event of its call was not delivered. */
  readonly out_of_order?: boolean
  /** True: the server answered after the time limit of an attempt. */
  readonly late?: boolean
  /** HTTP status of the response, as a string (KAZOO). */
  readonly resp_status_code?: string
  /** Headers of the response; secrets are redacted. */
  readonly resp_headers?: Readonly<Record<string, string>>
  /** Body of the response: at most 1 KiB, with `include=bodies` 8 KiB. */
  readonly resp_body?: string
  /** True: `include=bodies` returns more of `resp_body`. */
  readonly resp_body_cut?: boolean
  /** Headers of the request; secrets are redacted. */
  readonly req_headers?: Readonly<Record<string, string>>
  /** Body of the request: at most 1 KiB, with `include=bodies` 8 KiB. */
  readonly req_body?: string
  /** True: `include=bodies` returns more of `req_body`. */
  readonly req_body_cut?: boolean
  /** Duration of the attempt, in milliseconds. */
  readonly duration_ms?: number
}

/** Item `attempt` of a stream: the record, without headers and bodies. */
export interface StreamAttempt {
  /** Id of the account of the webhook. */
  readonly account_id: string
  /** Id of the record. */
  readonly id: string
  /** Id of the webhook. */
  readonly hook_id: string
  /** Event type, as in the catalogue. */
  readonly hook_event: string
  /** Id of the event. */
  readonly event_id: string
  /** Id of the delivery: one event for one webhook. */
  readonly delivery_id: string
  /** URL of the request. */
  readonly uri: string
  /** HTTP method in lower case. */
  readonly method: string
  /** Number of retries left after this attempt. */
  readonly retries_left: number
  /** Number of tries left before this attempt: `retries_left` + 1 (KAZOO). */
  readonly retries: number
  /** Value of `result`. */
  readonly result: 'success' | 'failure'
  /** Time when the request was sent, or when the delivery ended without one, in Gregorian seconds. */
  readonly timestamp: number
  /** The same time in ISO 8601. */
  readonly sent_at: string
  /** Id of the call leg. */
  readonly call_id?: string
  /** The parties of the call leg; absent where the event names none, or is no longer stored. */
  readonly call?: {
    /** Calling party: a number, or a SIP user with its domain. */
    readonly from?: string
    /** Called party: a number, or a SIP user with its domain. */
    readonly to?: string
    /** `inbound` or `outbound`. */
    readonly direction?: string
  }
  /** Name of the caller; absent where the event has none. */
  readonly caller_name?: string
  /** Number of the attempt: 1, 2, …; absent if the delivery ended without a request. */
  readonly attempt?: number
  /** Why the attempt failed, or why the delivery ended without a request. */
  readonly reason?: string
  /** Class of the failure. */
  readonly client_error?: string
  /** Cause of the failure, more exact than its class. Causes may be added. */
  readonly cause?: string
  /** What was observed, in one line: why it failed, or what was wrong with an accepted response. */
  readonly detail?: string
  /** True: it was sent while an earlier event of its call was not delivered. */
  readonly out_of_order?: boolean
  /** True: the server answered after the time limit of an attempt. */
  readonly late?: boolean
  /** HTTP status of the response, as a string (KAZOO). */
  readonly resp_status_code?: string
  /** True: `include=bodies` returns more of `resp_body`. */
  readonly resp_body_cut?: boolean
  /** True: `include=bodies` returns more of `req_body`. */
  readonly req_body_cut?: boolean
  /** Duration of the attempt, in milliseconds. */
  readonly duration_ms?: number
}

/** Item `webhook` of a stream: a webhook has changed, read it again. */
export interface StreamWebhook {
  /** Id of the webhook. */
  readonly id: string
  /** Id of the account of the webhook. */
  readonly account_id: string
  /** What happened to it. `changed`: also paused or resumed. */
  readonly change: 'created' | 'changed' | 'disabled' | 'deleted'
  /** Why the service disabled it. */
  readonly disable_reason?: string
}

/** Item `rate` of a stream: attempts of a webhook in one second, counted, because there were more than 200 items. */
export interface StreamRate {
  /** Id of the webhook. */
  readonly hook_id: string
  /** Number of attempts that succeeded. */
  readonly ok: number
  /** Number of attempts that failed. */
  readonly failed: number
  /** Start of the second, in Gregorian seconds. */
  readonly timestamp: number
}

/** Item `gap` of a stream: items are missing. */
export interface StreamGap {
  /** Id of the last item before the gap. */
  readonly from: string
  /** Number of missing items; null: unknown. */
  readonly dropped: number | null
}

/** Item `end` of a stream: the last one. */
export interface StreamEnd {
  /** `token`: it is not valid any more; `slow`: the client read nothing for 30 s; `closing`: connect again. */
  readonly reason: 'token' | 'slow' | 'closing'
}

/** The schema `Delivery` of the API. */
export interface Delivery {
  /** Id of the delivery. */
  readonly id: string
  /** Id of the event. */
  readonly event_id: string
  /** Id of the webhook. */
  readonly hook_id: string
  /** Event type, as in the catalogue. */
  readonly hook_event: string
  /** Id of the call leg. */
  readonly call_id?: string
  /** The parties of the call leg; absent where the event names none, or is no longer stored. */
  readonly call?: {
    /** Calling party: a number, or a SIP user with its domain. */
    readonly from?: string
    /** Called party: a number, or a SIP user with its domain. */
    readonly to?: string
    /** `inbound` or `outbound`. */
    readonly direction?: string
  }
  /** Name of the caller; absent where the event has none. */
  readonly caller_name?: string
  /** What its next attempt is, or what its last one was if it has ended. */
  readonly kind: 'first' | 'retry' | 'replay' | 'test'
  /** Id of the delivery that this one repeats, never that of a replay. */
  readonly replay_of?: string
  /** Id of the newest delivery that repeats this one; absent if there is none. */
  readonly replayed_by?: string
  /** True: a replay was delivered or is about to be; absent otherwise. */
  readonly recovered?: true
  /** Value of `state`. */
  readonly state: 'waiting' | 'in_flight' | 'delivered' | 'exhausted' | 'expired' | 'cancelled' | 'quarantined'
  /** Why the last attempt failed, or why the delivery ended. */
  readonly reason?: string
  /** Number of attempts made. */
  readonly attempts: number
  /** Time when the event was accepted. */
  readonly accepted_at: string
  /** Time when the next attempt is due; absent if none is. */
  readonly next_attempt_at?: string
  /** Time when the delivery ended; absent before. */
  readonly ended_at?: string
  /** Explains the state, in English. */
  readonly explain: string
  /** Value of `explanation`. */
  readonly explanation: Explanation
}

/** The schema `FoundDelivery` of the API. */
export interface FoundDelivery {
  /** Id of the account of the webhook. */
  readonly account_id: string
  /** Id of the delivery. */
  readonly id: string
  /** Id of the event. */
  readonly event_id: string
  /** Id of the webhook. */
  readonly hook_id: string
  /** Event type, as in the catalogue. */
  readonly hook_event: string
  /** Id of the call leg. */
  readonly call_id?: string
  /** The parties of the call leg; absent where the event names none, or is no longer stored. */
  readonly call?: {
    /** Calling party: a number, or a SIP user with its domain. */
    readonly from?: string
    /** Called party: a number, or a SIP user with its domain. */
    readonly to?: string
    /** `inbound` or `outbound`. */
    readonly direction?: string
  }
  /** Name of the caller; absent where the event has none. */
  readonly caller_name?: string
  /** What its next attempt is, or what its last one was if it has ended. */
  readonly kind: 'first' | 'retry' | 'replay' | 'test'
  /** Id of the delivery that this one repeats, never that of a replay. */
  readonly replay_of?: string
  /** Id of the newest delivery that repeats this one; absent if there is none. */
  readonly replayed_by?: string
  /** True: a replay was delivered or is about to be; absent otherwise. */
  readonly recovered?: true
  /** Value of `state`. */
  readonly state: 'waiting' | 'in_flight' | 'delivered' | 'exhausted' | 'expired' | 'cancelled' | 'quarantined'
  /** Why the last attempt failed, or why the delivery ended. */
  readonly reason?: string
  /** Number of attempts made. */
  readonly attempts: number
  /** Time when the event was accepted. */
  readonly accepted_at: string
  /** Time when the next attempt is due; absent if none is. */
  readonly next_attempt_at?: string
  /** Time when the delivery ended; absent before. */
  readonly ended_at?: string
  /** Explains the state, in English. */
  readonly explain: string
  /** Value of `explanation`. */
  readonly explanation: Explanation
}

/** The schema `ReplayCount` of the API. */
export interface ReplayCount {
  /** Number of deliveries that would be sent again. */
  readonly count: number
  /** Webhooks to which they would be sent. */
  readonly webhooks: number
  /** Accounts of these webhooks. */
  readonly accounts: number
}

/** The schema `ReplayJob` of the API. */
export interface ReplayJob {
  /** Id of the replay. */
  readonly id: string
  /** Id of the account that it belongs to; absent for one of all accounts. */
  readonly account_id?: string
  /** Id of the only webhook; absent for one of all webhooks. */
  readonly webhook_id?: string
  /** The last two are final. */
  readonly state: 'running' | 'paused' | 'cancelled' | 'completed'
  /** Number of deliveries that the request selected when it was made. */
  readonly count: number
  /** Number of deliveries that were accepted again as new ones. Sending them has its own result. */
  readonly replayed: number
  /** Time of the request. */
  readonly created_at: string
  /** Time when it was completed or cancelled; absent before. */
  readonly ended_at?: string
  /** As requested. */
  readonly created_from?: string
  /** As requested. */
  readonly created_to?: string
  /** As requested. */
  readonly result?: 'failure' | 'success' | 'delivered' | 'exhausted' | 'expired' | 'cancelled' | 'quarantined'
  /** As requested. */
  readonly hook?: string
  /** As requested. */
  readonly reason?: string
  /** As requested. */
  readonly call_id?: string
  /** As requested. */
  readonly number?: string
  /** As requested. */
  readonly host?: string
  /** As requested. */
  readonly include_recovered: boolean
  /** Webhooks whose deliveries were not all repeated, at most 100. */
  readonly left_out: ReadonlyArray<{
    /** Id of the webhook. */
    readonly webhook_id: string
    /** What happened to it before its part was done. */
    readonly reason: 'disabled' | 'deleted'
  }>
  /** True: the service itself repeats what expired as `queue_full`. */
  readonly automatic: boolean
}

/** The schema `RequestPreview` of the API. */
export interface RequestPreview {
  /** HTTP method. */
  readonly method: string
  /** URL, with the pairs of a request that has no body. */
  readonly uri: string
  /** Headers of the request. */
  readonly headers: Readonly<Record<string, string>>
  /** Body of the request; absent for `get` and `delete`. */
  readonly body?: string
  /** The same as a shell command. Its placeholders are variables of the shell. */
  readonly curl: string
}

/** What `explain` says, for programs and other languages. */
export interface Explanation {
  /** What explains the state. */
  readonly code: 'held' | 'call_order' | 'paused' | 'receiver_pause' | 'retry' | 'probe' | 'endpoint_cap' | 'account_cap' | 'origin_cap' | 'total_cap' | 'account_share' | 'priority' | 'rate_limit' | 'due' | 'in_flight' | 'delivered' | 'exhausted' | 'expired' | 'queue_full' | 'gone' | 'cancelled' | 'quarantined'
  /** Earlier deliveries of the call that must end first (`call_order`). */
  readonly ahead?: number
  /** Seconds until it may be sent (`paused`, `receiver_pause`, `retry`). */
  readonly seconds?: number
  /** Failures of the webhook in a row (`paused`). */
  readonly failures?: number
  /** Number of attempts made (`retry`, `delivered`, `exhausted`, `expired`), or the number of the current one (`in_flight`). */
  readonly attempts?: number
  /** Number of requests in flight at which it waits (`endpoint_cap`, `account_cap`, `origin_cap`, `total_cap`). */
  readonly limit?: number
  /** Why the last attempt failed: a status, or the `cause` of the attempt. */
  readonly reason?: string
  /** What was observed at the last attempt, in one line. Not in lists. */
  readonly detail?: string
  /** Seconds after which the server answered, if that was too late. */
  readonly took?: number
  /** The time limit of an attempt, in seconds, beside `took`. */
  readonly timeout?: number
}

/** The schema `LookedUp` of the API. */
export interface LookedUp {
  /** What was found. `account`: for operators only. */
  readonly type: 'webhook' | 'delivery' | 'event' | 'call' | 'account'
  /** Its id. */
  readonly id: string
  /** Id of the account that it belongs to; of an account its own. */
  readonly account_id: string
  /** Name of that account; absent if it was removed. */
  readonly account_name?: string
  /** The name of a webhook, the event type of a delivery or event, the realm of an account. */
  readonly label?: string
}

/** The schema `WhyQuestion` of the API. */
export interface WhyQuestion {
  /** The id of a call leg, delivery, event or webhook, or a number or user name of a call: digits with or without a leading `+` or `00`. */
  readonly q: string
}

/** The schema `Why` of the API. */
export interface Why {
  /** Newest first. */
  readonly calls: readonly WhyCall[]
  /** Further calls, newest first, at most 50. */
  readonly other_calls: ReadonlyArray<{
    /** Id of the account of the events. */
    readonly account_id: string
    /** Its name; absent if it was removed. */
    readonly account_name?: string
    /** Id of the call leg. */
    readonly call_id: string
    /** When it was accepted. */
    readonly accepted_at: string
  }>
  /** Value of `delivery`. */
  readonly delivery?: WhyDelivery
  /** Value of `webhook`. */
  readonly webhook?: {
    /** Id of the account of the events. */
    readonly account_id: string
    /** Its name; absent if it was removed. */
    readonly account_name?: string
    /** Id of the webhook. */
    readonly id: string
    /** Its name. */
    readonly name: string
    /** Event type that it is for. */
    readonly hook: string
    /** Whether it is enabled. */
    readonly enabled: boolean
    /** Why the service disabled the webhook; absent if its owner disabled it. */
    readonly disable_reason?: string
    /** True: it was deleted. */
    readonly deleted?: boolean
    /** Its newest 20, newest first. */
    readonly deliveries: readonly WhyDelivery[]
    /** The newest 20 events of the account that no webhook wanted, and why this one did not. */
    readonly unmatched: ReadonlyArray<{
      /** Why a webhook has no delivery of the event, for programs and other languages. */
      readonly why: 'hook' | 'only' | 'document' | 'internal_leg' | 'account' | 'filter' | 'disabled' | 'account_disabled' | 'created_later' | 'changed_later' | 'no_record'
      /** The same in a sentence. */
      readonly explain: string
      /** Id of the event. */
      readonly id: string
      /** Id of its call leg. */
      readonly call_id: string
      /** Event type, as in the catalogue. */
      readonly hook: string
      /** Number of the event within the leg: 1, 2, … */
      readonly sequence: number
      /** When it happened. */
      readonly happened_at: string
      /** When it was accepted. */
      readonly accepted_at: string
      /** What published it: `http`, `application`, `transaction`, or a switch. Absent if that is unknown, and for those who are no operators. */
      readonly source?: string
    }>
  }
  /** There are more calls of this number. Over all accounts those that are shown may not be the newest. */
  readonly truncated: boolean
}

/** The schema `WhyCall` of the API. */
export interface WhyCall {
  /** Id of the account of the events. */
  readonly account_id: string
  /** Its name; absent if it was removed. */
  readonly account_name?: string
  /** Id of the call leg. */
  readonly call_id: string
  /** Accepted events of all its legs, oldest first. */
  readonly events: ReadonlyArray<{
    /** Id of the event. */
    readonly id: string
    /** Id of its call leg. */
    readonly call_id: string
    /** Event type, as in the catalogue. */
    readonly hook: string
    /** Number of the event within the leg: 1, 2, … */
    readonly sequence: number
    /** When it happened. */
    readonly happened_at: string
    /** When it was accepted. */
    readonly accepted_at: string
    /** What published it: `http`, `application`, `transaction`, or a switch. Absent if that is unknown, and for those who are no operators. */
    readonly source?: string
    /** Whether any webhook matched. */
    readonly wanted: boolean
    /** Oldest first, at most 20. */
    readonly deliveries: readonly WhyDelivery[]
    /** Webhooks without a delivery of it, by reason. */
    readonly unmatched: ReadonlyArray<{
      /** Why a webhook has no delivery of the event, for programs and other languages. */
      readonly why: 'hook' | 'only' | 'document' | 'internal_leg' | 'account' | 'filter' | 'disabled' | 'account_disabled' | 'created_later' | 'changed_later' | 'no_record'
      /** The same in a sentence. */
      readonly explain: string
      /** Their number. */
      readonly count: number
      /** The first 10 of them. */
      readonly webhooks: ReadonlyArray<{
        /** Id of the webhook. */
        readonly id: string
        /** Its name. */
        readonly name: string
        /** Id of its account. */
        readonly account_id: string
      }>
    }>
  }>
  /** Older events, or some webhooks, are left out. */
  readonly truncated: boolean
}

/** The schema `WhyDelivery` of the API. */
export interface WhyDelivery {
  /** Id of the account of the webhook. */
  readonly account_id: string
  /** Id of the delivery. */
  readonly id: string
  /** Id of the event. */
  readonly event_id: string
  /** Id of the webhook. */
  readonly hook_id: string
  /** Event type, as in the catalogue. */
  readonly hook_event: string
  /** Id of the call leg. */
  readonly call_id?: string
  /** The parties of the call leg; absent where the event names none, or is no longer stored. */
  readonly call?: {
    /** Calling party: a number, or a SIP user with its domain. */
    readonly from?: string
    /** Called party: a number, or a SIP user with its domain. */
    readonly to?: string
    /** `inbound` or `outbound`. */
    readonly direction?: string
  }
  /** Name of the caller; absent where the event has none. */
  readonly caller_name?: string
  /** What its next attempt is, or what its last one was if it has ended. */
  readonly kind: 'first' | 'retry' | 'replay' | 'test'
  /** Id of the delivery that this one repeats, never that of a replay. */
  readonly replay_of?: string
  /** Id of the newest delivery that repeats this one; absent if there is none. */
  readonly replayed_by?: string
  /** True: a replay was delivered or is about to be; absent otherwise. */
  readonly recovered?: true
  /** Value of `state`. */
  readonly state: 'waiting' | 'in_flight' | 'delivered' | 'exhausted' | 'expired' | 'cancelled' | 'quarantined'
  /** Why the last attempt failed, or why the delivery ended. */
  readonly reason?: string
  /** Number of attempts made. */
  readonly attempts: number
  /** Time when the event was accepted. */
  readonly accepted_at: string
  /** Time when the next attempt is due; absent if none is. */
  readonly next_attempt_at?: string
  /** Time when the delivery ended; absent before. */
  readonly ended_at?: string
  /** Explains the state, in English. */
  readonly explain: string
  /** Value of `explanation`. */
  readonly explanation: Explanation
  /** Name of the webhook; absent if it is not stored any more. */
  readonly hook_name?: string
}

/** The schema `Match` of the API. */
export interface Match {
  /** Id of the webhook. */
  readonly id: string
  /** Name of the webhook. */
  readonly name: string
  /** Whether it would get the event. */
  readonly wanted: boolean
  /** Why not. `hook`: it is for other events. `only`, `filter`: these settings exclude the event. `document`: `type` or `action` of its `custom_data` differs. `account`: it is not for accounts below. `account_disabled`: the account of the webhook is disabled. */
  readonly why?: 'disabled' | 'account_disabled' | 'hook' | 'only' | 'document' | 'internal_leg' | 'account' | 'filter'
}

/** The schema `Call` of the API. */
export interface Call {
  /** Id of the leg of the request. */
  readonly call_id: string
  /** The leg of the request, then the others. */
  readonly legs: ReadonlyArray<{
    /** Id of the call leg. */
    readonly call_id: string
    /** `inbound` or `outbound`, as its events say. */
    readonly direction?: string
    /** Calling party, as its events say. */
    readonly from?: string
    /** Called party, as its events say. */
    readonly to?: string
    /** Number of its events in `events`. */
    readonly events: number
  }>
  /** Oldest first. */
  readonly events: readonly CallEvent[]
  /** Events that no webhook of the account matched, or that were pruned; at most 500. */
  readonly unwanted: ReadonlyArray<{
    /** Id of the call leg. */
    readonly call_id: string
    /** Number of the event within the leg. */
    readonly sequence: number
  }>
  /** True: older events are left out. */
  readonly truncated: boolean
  /** Whether the records of the call are stored: `all` of them, a `part` (`unwanted` are the rest), or `none`: they were removed, or there never were any. */
  readonly records: 'none' | 'part' | 'all'
}

/** The schema `CallEvent` of the API. */
export interface CallEvent {
  /** Id of the event. */
  readonly id: string
  /** Id of the account in which it happened. */
  readonly account_id: string
  /** Id of the call leg. */
  readonly call_id: string
  /** Event type, as in the catalogue. */
  readonly hook: string
  /** Number of the event within the leg: 1, 2, … */
  readonly sequence: number
  /** Time of the event, in Gregorian seconds. */
  readonly timestamp: number
  /** The same time in ISO 8601. */
  readonly happened_at: string
  /** Its deliveries, oldest first; replays too. */
  readonly deliveries: ReadonlyArray<{
    /** Name of the webhook; absent if it is not stored any more. */
    readonly hook_name?: string
    /** HTTP status of the last attempt, as a string; absent without an answer. */
    readonly last_status?: string
    /** Id of the delivery. */
    readonly id: string
    /** Id of the webhook. */
    readonly hook_id: string
    /** What its next attempt is, or what its last one was if it has ended. */
    readonly kind: 'first' | 'retry' | 'replay' | 'test'
    /** Id of the delivery that this one repeats, never that of a replay. */
    readonly replay_of?: string
    /** Id of the newest delivery that repeats this one; absent if there is none. */
    readonly replayed_by?: string
    /** Value of `state`. */
    readonly state: 'waiting' | 'in_flight' | 'delivered' | 'exhausted' | 'expired' | 'cancelled' | 'quarantined'
    /** Why the last attempt failed, or why the delivery ended. */
    readonly reason?: string
    /** Number of attempts made. */
    readonly attempts: number
    /** Time when the next attempt is due; absent if none is. */
    readonly next_attempt_at?: string
    /** Time when the delivery ended; absent before. */
    readonly ended_at?: string
  }>
}

/** The schema `Holds` of the API. */
export interface Holds {
  /** Whether the deliveries of all accounts are held. */
  readonly all: boolean
  /** Ids of accounts that are held by themselves, sorted. */
  readonly accounts: readonly string[]
}

/** The schema `WebhookCounts` of the API. */
export interface WebhookCounts {
  /** Webhooks that are concerned. */
  readonly webhooks: number
  /** Accounts of these webhooks. */
  readonly accounts: number
  /** Deliveries that wait for them. For webhooks of other nodes at most 1,000 of each are counted. */
  readonly deliveries: number
}

/** The schema `WebhookJob` of the API. */
export interface WebhookJob {
  /** Id of the job. */
  readonly id: string
  /** What it does. */
  readonly action: 'resume' | 'reenable'
  /** The last two are final. */
  readonly state: 'running' | 'paused' | 'cancelled' | 'completed'
  /** Webhooks that were selected when it was requested. */
  readonly count: number
  /** Webhooks that it has changed. */
  readonly changed: number
  /** Time of the request. */
  readonly created_at: string
  /** Time when it was completed or cancelled; absent before. */
  readonly ended_at?: string
  /** As requested. */
  readonly account_id?: string
  /** As requested. */
  readonly cause?: string
  /** As requested. */
  readonly host?: string
  /** As requested. */
  readonly since?: string
  /** As requested. */
  readonly until?: string
}

/** The schema `Overview` of the API. */
export interface Overview {
  /** Deliveries that wait or are in flight, on all nodes. */
  readonly pending: number
  /** How long the oldest delivery of the node is due. */
  readonly oldest_due_seconds: number
  /** Requests of the node in flight. */
  readonly in_flight: number
  /** Attempts of all nodes in each of the last 60 minutes, oldest first; the last minute has just begun. Each node adds its own every 10 s. Absent if the service keeps no statistics. */
  readonly attempts_per_minute?: readonly number[]
  /** Value of `paused`. */
  readonly paused: {
    /** Paused webhooks that wait for their next try. */
    readonly waiting: number
    /** Paused webhooks whose next try is due or under way. */
    readonly probing: number
  }
  /** Webhooks whose last attempt failed, and that are not paused. */
  readonly failing: number
  /** Accounts that have webhooks that fail or are paused. */
  readonly accounts_affected: number
  /** Failed attempts of the last hour by HTTP status, or by the `cause` of the attempt; at most 20, the rest under `other`. Absent if the service keeps no statistics. */
  readonly causes?: Readonly<Record<string, number>>
  /** Webhooks that the service disabled. */
  readonly disabled: number
  /** True: only 10,000 webhooks with problems were examined, and there are more. */
  readonly disabled_capped: boolean
  /** The nodes that work on deliveries. */
  readonly nodes: ReadonlyArray<{
    /** Opaque name of the node. */
    readonly node: string
    /** Until when it works without a renewal; absent if the store is not shared. */
    readonly alive_until?: string
    /** Number of its shards, of 64 in all. */
    readonly shards: number
    /** Number of those that it is handing over. */
    readonly leaving: number
  }>
  /** Value of `store`. */
  readonly store: {
    /** Whether it survives a restart. */
    readonly durable: boolean
    /** Whether several nodes can use it. */
    readonly shared: boolean
  }
  /** Version of the service. */
  readonly version: string
}

/** The schema `Hook` of the API. */
export interface Hook {
  /** Id of the event type; the value of `hook` in webhooks. */
  readonly id: string
  /** Human-readable name. */
  readonly name: string
  /** When the event occurs. */
  readonly description: string
}

/** The schema `Login` of the API. */
export interface Login {
  /** Id of the account of the token. */
  readonly account_id: string
  /** Name of the account. */
  readonly account_name?: string
  /** Id of the user who signed in; absent for an API key. */
  readonly owner_id?: string
  /** Language tag of the account. */
  readonly language: string
  /** Whether the account is a reseller. */
  readonly is_reseller: boolean
  /** Id of the reseller of the account. */
  readonly reseller_id?: string
  /** Always empty. */
  readonly apps: readonly unknown[]
}

/** The schema `Token` of the API. */
export interface Token {
  /** Id of the account of the token. */
  readonly account_id: string
  /** Name of the account. */
  readonly account_name?: string
  /** Id of the user who signed in; absent for an API key. */
  readonly owner_id?: string
  /** Language tag of the account. */
  readonly language: string
  /** Whether the account is a reseller. */
  readonly is_reseller: boolean
  /** Id of the reseller of the account. */
  readonly reseller_id?: string
  /** Always empty. */
  readonly apps: readonly unknown[]
  /** Level of the user; `admin` for an API key. */
  readonly priv_level: 'user' | 'admin'
  /** Whether the token acts on every account. */
  readonly is_operator: boolean
  /** Whether the token can only read data, except that the login of a user can change that user. */
  readonly is_read_only: boolean
}

/** The schema `IssuedToken` of the API. */
export interface IssuedToken {
  /** The token. */
  readonly token: string
  /** Time when it expires. */
  readonly expires_at: string
  /** Id of the account of the token. */
  readonly account_id: string
  /** Name of the account. */
  readonly account_name?: string
  /** Id of its user; absent for one of the account itself. */
  readonly user_id?: string
  /** `admin`: everything that the user or account may do. `read`: reads the account, and changes nothing. */
  readonly role: 'admin' | 'read'
}

/** The schema `CheckedAddress` of the API. */
export interface CheckedAddress {
  /** Whether a connection could be made, TLS included. */
  readonly ok: boolean
  /** Absent if it is another one. */
  readonly scheme?: 'https' | 'http'
  /** Host name or address, as it would be called; absent if the URL is not valid. */
  readonly host?: string
  /** Port; absent if the URL is not valid. */
  readonly port?: number
  /** Value of `problem`. */
  readonly problem?: {
    /** `scheme`: neither http nor https. `address_invalid`: no valid URL. `not_checked`: a fault of the service. Otherwise the `cause` that an attempt would have. */
    readonly code: string
    /** The same as a sentence. */
    readonly message: string
  }
  /** Value of `tls`. */
  readonly tls?: {
    /** End of the validity of the server's certificate. */
    readonly valid_to: string
  }
  /** `not_encrypted`: others on the way can read and change what is sent. */
  readonly warnings?: readonly 'not_encrypted'[]
}

/** Fields of an account. Other public keys are stored as they are. */
export interface AccountFields {
  /** Name of the account. Unique by its letters and digits, in any case. */
  readonly name: string
  /** SIP realm, unique. Spaces are removed, and it is lower-cased. Default: generated. */
  readonly realm?: string
  /** False: no logins, no valid tokens, no events. Changed only with a token of an ancestor. Default: as the parent. */
  readonly enabled?: boolean
  /** Time zone; `inherit` stands for that of the parent. Default: that of the parent. */
  readonly timezone?: string
  /** Language tag, shown at login. Default: that of the parent. */
  readonly language?: string
  /** Labels, shown in lists. */
  readonly flags?: readonly string[]
}

/** JSON merge patch (RFC 7396); `null` removes a field. */
export interface AccountPatch {
  /** New value of `name`; null removes it. */
  readonly name?: string | null
  /** New value of `realm`; null removes it. */
  readonly realm?: string | null
  /** New value of `enabled`; null removes it. */
  readonly enabled?: boolean | null
  /** New value of `timezone`; null removes it. */
  readonly timezone?: string | null
  /** New value of `language`; null removes it. */
  readonly language?: string | null
  /** New value of `flags`; null removes it. */
  readonly flags?: readonly string[] | null
}

/** The schema `Account` of the API. */
export interface Account {
  /** Id of the account. */
  readonly id: string
  /** Name of the account. */
  readonly name: string
  /** SIP realm of the account. */
  readonly realm: string
  /** False: no logins, no valid tokens, no events. Changed only with a token of an ancestor. Default: as the parent. */
  readonly enabled: boolean
  /** Time zone; `inherit` stands for that of the parent. Default: that of the parent. */
  readonly timezone: string
  /** Language tag, shown at login. Default: that of the parent. */
  readonly language: string
  /** Labels, shown in lists. */
  readonly flags?: readonly string[]
  /** Time of creation, in Gregorian seconds. */
  readonly created?: number
  /** Whether the account is a reseller. */
  readonly is_reseller: boolean
  /** Id of the reseller of the account. */
  readonly reseller_id?: string
  /** Whether its admins act on every account. */
  readonly superduper_admin: boolean
  /** Always false. */
  readonly wnm_allow_additions: boolean
  /** Always `manual`. */
  readonly billing_mode: string
  /** The API key, only with `include_api_key=true`. */
  readonly api_key?: string
  /** Set by the service. */
  readonly _read_only: {
    /** Time of creation, in Gregorian seconds. */
    readonly created?: number
    /** Time of the last change, in Gregorian seconds. */
    readonly modified?: number
    /** Present, and true, in the response to DELETE. */
    readonly deleted?: boolean
  }
}

/** The schema `AccountSummary` of the API. */
export interface AccountSummary {
  /** Id of the account. */
  readonly id: string
  /** Name of the account. */
  readonly name: string
  /** SIP realm of the account. */
  readonly realm: string
  /** Number of accounts below it on all levels, at most 1,000. */
  readonly descendants_count: number
  /** Labels. */
  readonly flags?: readonly string[]
}

/** The schema `AccountDescendant` of the API. */
export interface AccountDescendant {
  /** Id of the account. */
  readonly id: string
  /** Name of the account. */
  readonly name: string
  /** SIP realm of the account. */
  readonly realm: string
  /** Ids of the accounts above, down to the parent. */
  readonly tree: readonly string[]
  /** Labels. */
  readonly flags: readonly string[]
}

/** The schema `AccountAncestor` of the API. */
export interface AccountAncestor {
  /** Id of the account. */
  readonly id: string
  /** Name of the account. */
  readonly name: string
  /** SIP realm of the account. */
  readonly realm: string
  /** Labels. */
  readonly flags: readonly string[]
}

/** The schema `AnyAccount` of the API. */
export interface AnyAccount {
  /** Id of the account. */
  readonly id: string
  /** Name of the account. */
  readonly name: string
  /** SIP realm of the account. */
  readonly realm: string
  /** Ids of the accounts above, down to the parent. */
  readonly tree: readonly string[]
  /** Whether the account is enabled. */
  readonly enabled: boolean
}

/** Fields of a user. Other public keys are stored as they are. */
export interface UserFields {
  /** First name. */
  readonly first_name: string
  /** Last name. */
  readonly last_name: string
  /** User name, lower-cased, unique in the account. A user without one cannot sign in. */
  readonly username?: string
  /** Password. Never shown. Required with a new user name. */
  readonly password?: string
  /** E-mail address. */
  readonly email?: string
  /** False: the user cannot sign in, and its tokens are invalid. */
  readonly enabled?: boolean
  /** `admin`: manages the account and all accounts below. `user`: reads its own account. */
  readonly priv_level?: 'user' | 'admin'
  /** Time zone. */
  readonly timezone?: string
  /** Language tag. */
  readonly language?: string
  /** Tells a user interface to ask for a new password. */
  readonly require_password_update?: boolean
  /** Stored only. */
  readonly verified?: boolean
}

/** JSON merge patch (RFC 7396); `null` removes a field. */
export interface UserPatch {
  /** New value of `first_name`; null removes it. */
  readonly first_name?: string | null
  /** New value of `last_name`; null removes it. */
  readonly last_name?: string | null
  /** New value of `username`; null removes it. */
  readonly username?: string | null
  /** New value of `password`; null removes it. */
  readonly password?: string | null
  /** New value of `email`; null removes it. */
  readonly email?: string | null
  /** New value of `enabled`; null removes it. */
  readonly enabled?: boolean | null
  /** New value of `priv_level`; null removes it. */
  readonly priv_level?: 'user' | 'admin' | null
  /** New value of `timezone`; null removes it. */
  readonly timezone?: string | null
  /** New value of `language`; null removes it. */
  readonly language?: string | null
  /** New value of `require_password_update`; null removes it. */
  readonly require_password_update?: boolean | null
  /** New value of `verified`; null removes it. */
  readonly verified?: boolean | null
}

/** The schema `User` of the API. */
export interface User {
  /** Id of the user. */
  readonly id: string
  /** First name. */
  readonly first_name: string
  /** Last name. */
  readonly last_name: string
  /** User name in lower case; absent: the user cannot sign in. */
  readonly username?: string
  /** E-mail address. */
  readonly email?: string
  /** False: the user cannot sign in, and its tokens are invalid. */
  readonly enabled: boolean
  /** `admin`: manages the account and all accounts below. `user`: reads its own account. */
  readonly priv_level: 'user' | 'admin'
  /** Time zone. */
  readonly timezone?: string
  /** Language tag. */
  readonly language?: string
  /** Tells a user interface to ask for a new password. */
  readonly require_password_update: boolean
  /** Stored only. */
  readonly verified: boolean
  /** Set by the service. */
  readonly _read_only: {
    /** Time of creation, in Gregorian seconds. */
    readonly created?: number
    /** Time of the last change, in Gregorian seconds. */
    readonly modified?: number
    /** Present, and true, in the response to DELETE. */
    readonly deleted?: boolean
  }
}

/** The schema `UserSummary` of the API. */
export interface UserSummary {
  /** Id of the user. */
  readonly id: string
  /** The document's own list, or empty. */
  readonly features: readonly unknown[]
  /** The document's own list, or empty. */
  readonly flags: readonly unknown[]
  /** User name in lower case. */
  readonly username?: string
  /** E-mail address. */
  readonly email?: string
  /** First name. */
  readonly first_name: string
  /** Last name. */
  readonly last_name: string
  /** Value of `priv_level`. */
  readonly priv_level: 'user' | 'admin'
  /** Whether the user can sign in. */
  readonly enabled: boolean
  /** Time zone. */
  readonly timezone?: string
  /** The document's own value. */
  readonly feature_level?: unknown
  /** The document's own value. */
  readonly presence_id?: unknown
  /** The document's own value. */
  readonly service?: unknown
}

/** The schema `ApiKeyLogin` of the API. */
export interface ApiKeyLogin {
  /** API key of the account. */
  readonly api_key: string
}

/** The schema `CredentialsLogin` of the API. */
export interface CredentialsLogin {
  /** Hex digest of `username:password`: 32 digits for `md5`, 40 for `sha`. Not case-sensitive. */
  readonly credentials: string
  /** Realm of the account; not case-sensitive. */
  readonly account_realm?: string
  /** Older name of `account_realm`. */
  readonly realm?: string
  /** Name of the account, as an alternative to its realm; only letters and digits are compared. */
  readonly account_name?: string
  /** Digest algorithm of the credentials: MD5 or SHA-1. */
  readonly method?: 'md5' | 'sha'
}

/** The schema `TokenRequest` of the API. */
export interface TokenRequest {
  /** Account that the token gives access to. */
  readonly account_id: string
  /** A user of the account, whose rights limit those of the token. Default: the account itself. */
  readonly user_id?: string
  /** `admin`: everything that the user or account may do. `read`: reads the account, and changes nothing. */
  readonly role: 'admin' | 'read'
  /** Lifetime of the token in seconds, at most that of the token of a login. */
  readonly ttl_seconds: number
}

/** The schema `Address` of the API. */
export interface Address {
  /** URL as a webhook would have it. */
  readonly uri: string
}

/** The schema `Reenable` of the API. */
export interface Reenable {
  /** Must be true. */
  readonly 're-enable': true
}

/** The schema `Replay` of the API. */
export interface Replay {
  /** Delivery to repeat, whatever its result; no other field. */
  readonly delivery_id?: string
  /** Only deliveries accepted at or after this time: Gregorian seconds or ISO 8601 (integer or string). */
  readonly created_from?: unknown
  /** Only deliveries accepted at or before this time: Gregorian seconds or ISO 8601 (integer or string). Default: now. */
  readonly created_to?: unknown
  /** Only deliveries with this result, or in this state. */
  readonly result?: 'failure' | 'success' | 'delivered' | 'exhausted' | 'expired' | 'cancelled' | 'quarantined'
  /** Only events of this type. */
  readonly hook?: string
  /** Only deliveries that ended for exactly this reason, as `status 500`, `refused` or `queue_full`. */
  readonly reason?: string
  /** Only events of this call leg. */
  readonly call_id?: string
  /** Only events of the calls in which this number or name occurs; not over all accounts. */
  readonly number?: string
  /** Only webhooks whose URL has this host, as `crm.example.com` on any port, or `127.0.0.1:8080`; not of one webhook. */
  readonly host?: string
  /** True: also deliveries that a replay has delivered or is about to deliver. */
  readonly include_recovered?: boolean
  /** Counts the deliveries and sends nothing. */
  readonly dry_run?: boolean
}

/** The schema `ReplaySelection` of the API. */
export interface ReplaySelection {
  /** Only deliveries accepted at or after this time: Gregorian seconds or ISO 8601 (integer or string). */
  readonly created_from?: unknown
  /** Only deliveries accepted at or before this time: Gregorian seconds or ISO 8601 (integer or string). Default: now. */
  readonly created_to?: unknown
  /** Only deliveries with this result, or in this state. */
  readonly result?: 'failure' | 'success' | 'delivered' | 'exhausted' | 'expired' | 'cancelled' | 'quarantined'
  /** Only events of this type. */
  readonly hook?: string
  /** Only deliveries that ended for exactly this reason, as `status 500`, `refused` or `queue_full`. */
  readonly reason?: string
  /** Only events of this call leg. */
  readonly call_id?: string
  /** Only events of the calls in which this number or name occurs; not over all accounts. */
  readonly number?: string
  /** Only webhooks whose URL has this host, as `crm.example.com` on any port, or `127.0.0.1:8080`; not of one webhook. */
  readonly host?: string
  /** True: also deliveries that a replay has delivered or is about to deliver. */
  readonly include_recovered?: boolean
  /** Counts the deliveries and sends nothing. */
  readonly dry_run?: boolean
}

/** The schema `ReplayState` of the API. */
export interface ReplayState {
  /** A cancelled replay cannot be continued; what it has repeated is still sent. */
  readonly state: 'running' | 'paused' | 'cancelled'
}

/** The schema `Hold` of the API. */
export interface Hold {
  /** Whether deliveries are held from now on. */
  readonly held: boolean
  /** Only the webhooks of this account, without those below it. Default: all accounts. */
  readonly account_id?: string
  /** Counts what is concerned and changes nothing. */
  readonly dry_run?: boolean
}

/** The schema `WebhookJobRequest` of the API. */
export interface WebhookJobRequest {
  /** `resume`: end the pauses of failing webhooks, so that what waits is sent now. `reenable`: enable what the service has disabled. */
  readonly action: 'resume' | 'reenable'
  /** Only webhooks of this account, without those below it. */
  readonly account_id?: string
  /** Only webhooks with this `cause`, or whose last response had this status, as `503`. */
  readonly cause?: string
  /** Only webhooks whose URL has this host, as `crm.example.com` on any port, or `127.0.0.1:8080`. */
  readonly host?: string
  /** Only webhooks that have failed since this time or a later one: Gregorian seconds or ISO 8601 (integer or string). */
  readonly since?: unknown
  /** Only webhooks that have failed since this time or an earlier one: Gregorian seconds or ISO 8601 (integer or string). */
  readonly until?: unknown
  /** Counts what is concerned and changes nothing. */
  readonly dry_run?: boolean
}

/** An event to publish, in the format of the payload. `hook` is an alias of `hook_event`. */
export interface EventInput {
  /** Kind of event. */
  readonly hook_event?: string
  /** Kind of event. */
  readonly hook?: string
  /** Id of the account of the call. */
  readonly account_id?: string
  /** Id of the call leg; of a device, an agent or a message (`sms`), its own. */
  readonly call_id?: string
  /** Id that all legs of a call have: usually the id of its first leg. A leg that joins an older call in a transfer has the id of that call from then on. */
  readonly call_group_id?: string
  /** Id of the leg at the other end, if there is one. */
  readonly other_leg_call_id?: string
  /** Direction of the leg, seen from the platform. */
  readonly call_direction?: 'inbound' | 'outbound'
  /** Time of the event, in Gregorian seconds. Default: now. */
  readonly timestamp?: number
  /** Calling party, `user@realm`. */
  readonly from?: string
  /** Called party, `user@realm`. */
  readonly to?: string
  /** Requested destination, `user@realm`. */
  readonly request?: string
  /** Where the call entered the platform, `user@realm`; absent for internal calls. */
  readonly inception?: string
  /** Name of the caller. */
  readonly caller_id_name?: string
  /** Number of the caller. */
  readonly caller_id_number?: string
  /** Name of the callee: until the call is answered of the one who was called, then of the one who answered. */
  readonly callee_id_name?: string
  /** Number of the callee. `to` and `request` keep what was dialled. */
  readonly callee_id_number?: string
  /** Who answered the call, from the answer on; absent if only the platform did. */
  readonly answered_by?: {
    /** Number of the party. */
    readonly number?: string
    /** Name of the party. */
    readonly name?: string
    /** Id of its leg. */
    readonly call_id?: string
  }
  /** Where the leg leads: the phone, or the line to the carrier. */
  readonly endpoint?: {
    /** `extension`: a phone of the platform. `trunk`, `gateway`: a line to a carrier. Absent if it is not known. */
    readonly kind?: 'extension' | 'trunk' | 'gateway'
    /** Its name on the platform. */
    readonly name?: string
  }
  /** Id of the user who owns the authorizing device. */
  readonly owner_id?: string
  /** Id of the account that resells to this one. */
  readonly reseller_id?: string
  /** Id of the device or trunk that authorized the leg. */
  readonly authorizing_id?: string
  /** Kind of that device or trunk. */
  readonly authorizing_type?: string
  /** Whether the leg comes from call forwarding. */
  readonly call_forwarded?: boolean
  /** Whether an emergency carrier was used. */
  readonly emergency_resource_used?: boolean
  /** Whether one of the account's own carriers was used. */
  readonly local_resource_used?: boolean
  /** Id of that carrier. */
  readonly local_resource_id?: string
  /** Whether the leg is a loopback of the platform. */
  readonly is_internal_leg?: boolean
  /** Variables of the channel. */
  readonly custom_channel_vars?: Readonly<Record<string, unknown>>
  /** Variables set by applications. */
  readonly custom_application_vars?: Readonly<Record<string, unknown>>
  /** Number that was originally dialled (`channel_bridge`). */
  readonly original_number?: string
  /** Number dialled on the other leg (`channel_bridge`). */
  readonly other_leg_destination_number?: string
  /** Why the leg ended (`channel_destroy`). */
  readonly hangup_cause?: string
  /** The same as a protocol code (`channel_destroy`). */
  readonly hangup_code?: string
  /** Duration of the leg in whole seconds, rounded down (`channel_destroy`). */
  readonly duration_seconds?: number
  /** `duration_seconds` minus `billing_seconds` (`channel_destroy`). */
  readonly ringing_seconds?: number
  /** Whole seconds from the answer to the end, rounded down (`channel_destroy`). */
  readonly billing_seconds?: number
  /** Duration of the leg, or length of the recording, in milliseconds (`channel_destroy`, `recording_ready`). */
  readonly duration_ms?: number
  /** Milliseconds until the answer, or the duration if there was none (`channel_destroy`), or that the phone of the agent rang (`queue_agent_no_answer`). */
  readonly ringing_ms?: number
  /** Milliseconds from the answer to the end (`channel_destroy`). */
  readonly billing_ms?: number
  /** `attended`: the transferring party spoke to the new one before (`channel_transferee`, `channel_transferor`). */
  readonly transfer_type?: 'blind' | 'attended'
  /** Number that the call is transferred to (`channel_transferee`, `channel_transferor`). */
  readonly transfer_to?: string
  /** Id of the leg that the call is transferred to, if it exists (the same two kinds). */
  readonly target_call_id?: string
  /** Whether the call is parked, retrieved, or ended in the slot (`parking`). */
  readonly event_name?: 'PARK_PARKED' | 'PARK_RETRIEVED' | 'PARK_ABANDONED'
  /** Slot in which the call is parked (`parking`). */
  readonly parking_slot?: string
  /** User part of `from` (`voicemail_new`, `missed_call`). */
  readonly from_user?: string
  /** Realm of `from` (`voicemail_new`, `missed_call`, `sms`). */
  readonly from_realm?: string
  /** User part of `to` (`voicemail_new`, `missed_call`). */
  readonly to_user?: string
  /** Realm of `to` (`voicemail_new`, `missed_call`, `sms`). */
  readonly to_realm?: string
  /** Voicemail box, `box` or `box@context` (`voicemail_new`). */
  readonly voicemail_box?: string
  /** Id of the message (`voicemail_new`). */
  readonly voicemail_id?: string
  /** Length of the message in milliseconds (`voicemail_new`). */
  readonly voicemail_length?: number
  /** Whether the call was answered by a user (`missed_call`). */
  readonly call_bridged?: boolean
  /** Whether the caller left a voicemail message (`missed_call`). */
  readonly message_left?: boolean
  /** Name of the queue; absent where an agent logs in to all of them, or out (`queue_…`). */
  readonly queue_id?: string
  /** Position of the caller in the queue, 1 for the next (`queue_join`, `queue_leave`). */
  readonly queue_position?: number
  /** Why the caller left, if the switch reports it (`queue_leave`). */
  readonly queue_leave_reason?: 'answered' | 'abandoned' | 'timeout' | 'no_agent' | 'key'
  /** Seconds that the caller has waited (`queue_leave`, `queue_agent_answer`, `queue_agent_complete`). */
  readonly waiting_seconds?: number
  /** Id of the agent (`queue_agent_…`). */
  readonly agent_id?: string
  /** Id of the leg to the agent (`queue_agent_…`). */
  readonly agent_call_id?: string
  /** Number of the agent's phone (`queue_agent_…`). */
  readonly agent_number?: string
  /** Seconds that agent and caller have talked (`queue_agent_complete`). */
  readonly talking_seconds?: number
  /** Key that was pressed (`channel_dtmf`). The keys of a call may be a secret such as a PIN. */
  readonly dtmf_digit?: string
  /** How long it was pressed, in milliseconds (`channel_dtmf`). */
  readonly dtmf_duration_ms?: number
  /** File of the recording, as the switch names it (`recording_…`). */
  readonly path?: string
  /** Why the recording ended, if the switch reports it: `hangup`, `stopped`, `max_length` or `failed` (`recording_ready`). Who ended the talk: `caller`, `agent`, or `transfer` (`queue_agent_complete`). Why the agent pauses (`queue_agent_pause`). */
  readonly reason?: string
  /** Name of the conference (`conference_…`). */
  readonly name?: string
  /** Id of the member in the conference (`conference_…`). */
  readonly member?: string
  /** How many members the conference has afterwards (`conference_…`). */
  readonly members?: number
  /** User of the device at its realm (`device_…`). */
  readonly username?: string
  /** Realm at which the device is registered (`device_…`). */
  readonly realm?: string
  /** Address under which the device can be reached, a SIP Contact (`device_…`). */
  readonly contact?: string
  /** Model and version of the device, as it says (`device_…`). */
  readonly user_agent?: string
  /** Seconds until the registration ends unless it is renewed (`device_registered`). */
  readonly expires?: number
  /** Text of the message (`sms`). It may be a secret such as a login code. */
  readonly body?: string
  /** State of the message, as the platform names it (`sms`). */
  readonly status?: string
  /** Of a registered kind, in place of the id of a call: what has the same key is numbered and sent in order. */
  readonly ordering_key?: string
  /** Fields of a registered kind. Any JSON object that its schema accepts. */
  readonly data?: Readonly<Record<string, unknown>>
  /** Id of the document (`object`). */
  readonly id?: string
  /** Type of the document, such as `account` or `user` (`object`). */
  readonly type?: string
  /** What happened to the document (`object`). */
  readonly action?: 'doc_created' | 'doc_edited' | 'doc_deleted'
  /** Within 24 hours, events with the same key are one event. */
  readonly idempotency_key?: string
  /** Time of the event with milliseconds, in place of `timestamp`. Where both are given, it must be in the second of `timestamp`. */
  readonly happened_at?: string
}

/** An event of which only the type is required. `hook` is an alias of `hook_event`. */
export interface PartialEvent {
  /** Kind of event. */
  readonly hook_event?: string
  /** Kind of event. */
  readonly hook?: string
  /** Id of the account of the call. */
  readonly account_id?: string
  /** Id of the call leg; of a device, an agent or a message (`sms`), its own. */
  readonly call_id?: string
  /** Id that all legs of a call have: usually the id of its first leg. A leg that joins an older call in a transfer has the id of that call from then on. */
  readonly call_group_id?: string
  /** Id of the leg at the other end, if there is one. */
  readonly other_leg_call_id?: string
  /** Direction of the leg, seen from the platform. */
  readonly call_direction?: 'inbound' | 'outbound'
  /** Time of the event, in Gregorian seconds. Default: now. */
  readonly timestamp?: number
  /** Calling party, `user@realm`. */
  readonly from?: string
  /** Called party, `user@realm`. */
  readonly to?: string
  /** Requested destination, `user@realm`. */
  readonly request?: string
  /** Where the call entered the platform, `user@realm`; absent for internal calls. */
  readonly inception?: string
  /** Name of the caller. */
  readonly caller_id_name?: string
  /** Number of the caller. */
  readonly caller_id_number?: string
  /** Name of the callee: until the call is answered of the one who was called, then of the one who answered. */
  readonly callee_id_name?: string
  /** Number of the callee. `to` and `request` keep what was dialled. */
  readonly callee_id_number?: string
  /** Who answered the call, from the answer on; absent if only the platform did. */
  readonly answered_by?: {
    /** Number of the party. */
    readonly number?: string
    /** Name of the party. */
    readonly name?: string
    /** Id of its leg. */
    readonly call_id?: string
  }
  /** Where the leg leads: the phone, or the line to the carrier. */
  readonly endpoint?: {
    /** `extension`: a phone of the platform. `trunk`, `gateway`: a line to a carrier. Absent if it is not known. */
    readonly kind?: 'extension' | 'trunk' | 'gateway'
    /** Its name on the platform. */
    readonly name?: string
  }
  /** Id of the user who owns the authorizing device. */
  readonly owner_id?: string
  /** Id of the account that resells to this one. */
  readonly reseller_id?: string
  /** Id of the device or trunk that authorized the leg. */
  readonly authorizing_id?: string
  /** Kind of that device or trunk. */
  readonly authorizing_type?: string
  /** Whether the leg comes from call forwarding. */
  readonly call_forwarded?: boolean
  /** Whether an emergency carrier was used. */
  readonly emergency_resource_used?: boolean
  /** Whether one of the account's own carriers was used. */
  readonly local_resource_used?: boolean
  /** Id of that carrier. */
  readonly local_resource_id?: string
  /** Whether the leg is a loopback of the platform. */
  readonly is_internal_leg?: boolean
  /** Variables of the channel. */
  readonly custom_channel_vars?: Readonly<Record<string, unknown>>
  /** Variables set by applications. */
  readonly custom_application_vars?: Readonly<Record<string, unknown>>
  /** Number that was originally dialled (`channel_bridge`). */
  readonly original_number?: string
  /** Number dialled on the other leg (`channel_bridge`). */
  readonly other_leg_destination_number?: string
  /** Why the leg ended (`channel_destroy`). */
  readonly hangup_cause?: string
  /** The same as a protocol code (`channel_destroy`). */
  readonly hangup_code?: string
  /** Duration of the leg in whole seconds, rounded down (`channel_destroy`). */
  readonly duration_seconds?: number
  /** `duration_seconds` minus `billing_seconds` (`channel_destroy`). */
  readonly ringing_seconds?: number
  /** Whole seconds from the answer to the end, rounded down (`channel_destroy`). */
  readonly billing_seconds?: number
  /** Duration of the leg, or length of the recording, in milliseconds (`channel_destroy`, `recording_ready`). */
  readonly duration_ms?: number
  /** Milliseconds until the answer, or the duration if there was none (`channel_destroy`), or that the phone of the agent rang (`queue_agent_no_answer`). */
  readonly ringing_ms?: number
  /** Milliseconds from the answer to the end (`channel_destroy`). */
  readonly billing_ms?: number
  /** `attended`: the transferring party spoke to the new one before (`channel_transferee`, `channel_transferor`). */
  readonly transfer_type?: 'blind' | 'attended'
  /** Number that the call is transferred to (`channel_transferee`, `channel_transferor`). */
  readonly transfer_to?: string
  /** Id of the leg that the call is transferred to, if it exists (the same two kinds). */
  readonly target_call_id?: string
  /** Whether the call is parked, retrieved, or ended in the slot (`parking`). */
  readonly event_name?: 'PARK_PARKED' | 'PARK_RETRIEVED' | 'PARK_ABANDONED'
  /** Slot in which the call is parked (`parking`). */
  readonly parking_slot?: string
  /** User part of `from` (`voicemail_new`, `missed_call`). */
  readonly from_user?: string
  /** Realm of `from` (`voicemail_new`, `missed_call`, `sms`). */
  readonly from_realm?: string
  /** User part of `to` (`voicemail_new`, `missed_call`). */
  readonly to_user?: string
  /** Realm of `to` (`voicemail_new`, `missed_call`, `sms`). */
  readonly to_realm?: string
  /** Voicemail box, `box` or `box@context` (`voicemail_new`). */
  readonly voicemail_box?: string
  /** Id of the message (`voicemail_new`). */
  readonly voicemail_id?: string
  /** Length of the message in milliseconds (`voicemail_new`). */
  readonly voicemail_length?: number
  /** Whether the call was answered by a user (`missed_call`). */
  readonly call_bridged?: boolean
  /** Whether the caller left a voicemail message (`missed_call`). */
  readonly message_left?: boolean
  /** Name of the queue; absent where an agent logs in to all of them, or out (`queue_…`). */
  readonly queue_id?: string
  /** Position of the caller in the queue, 1 for the next (`queue_join`, `queue_leave`). */
  readonly queue_position?: number
  /** Why the caller left, if the switch reports it (`queue_leave`). */
  readonly queue_leave_reason?: 'answered' | 'abandoned' | 'timeout' | 'no_agent' | 'key'
  /** Seconds that the caller has waited (`queue_leave`, `queue_agent_answer`, `queue_agent_complete`). */
  readonly waiting_seconds?: number
  /** Id of the agent (`queue_agent_…`). */
  readonly agent_id?: string
  /** Id of the leg to the agent (`queue_agent_…`). */
  readonly agent_call_id?: string
  /** Number of the agent's phone (`queue_agent_…`). */
  readonly agent_number?: string
  /** Seconds that agent and caller have talked (`queue_agent_complete`). */
  readonly talking_seconds?: number
  /** Key that was pressed (`channel_dtmf`). The keys of a call may be a secret such as a PIN. */
  readonly dtmf_digit?: string
  /** How long it was pressed, in milliseconds (`channel_dtmf`). */
  readonly dtmf_duration_ms?: number
  /** File of the recording, as the switch names it (`recording_…`). */
  readonly path?: string
  /** Why the recording ended, if the switch reports it: `hangup`, `stopped`, `max_length` or `failed` (`recording_ready`). Who ended the talk: `caller`, `agent`, or `transfer` (`queue_agent_complete`). Why the agent pauses (`queue_agent_pause`). */
  readonly reason?: string
  /** Name of the conference (`conference_…`). */
  readonly name?: string
  /** Id of the member in the conference (`conference_…`). */
  readonly member?: string
  /** How many members the conference has afterwards (`conference_…`). */
  readonly members?: number
  /** User of the device at its realm (`device_…`). */
  readonly username?: string
  /** Realm at which the device is registered (`device_…`). */
  readonly realm?: string
  /** Address under which the device can be reached, a SIP Contact (`device_…`). */
  readonly contact?: string
  /** Model and version of the device, as it says (`device_…`). */
  readonly user_agent?: string
  /** Seconds until the registration ends unless it is renewed (`device_registered`). */
  readonly expires?: number
  /** Text of the message (`sms`). It may be a secret such as a login code. */
  readonly body?: string
  /** State of the message, as the platform names it (`sms`). */
  readonly status?: string
  /** Of a registered kind, in place of the id of a call: what has the same key is numbered and sent in order. */
  readonly ordering_key?: string
  /** Fields of a registered kind. Any JSON object that its schema accepts. */
  readonly data?: Readonly<Record<string, unknown>>
  /** Id of the document (`object`). */
  readonly id?: string
  /** Type of the document, such as `account` or `user` (`object`). */
  readonly type?: string
  /** What happened to the document (`object`). */
  readonly action?: 'doc_created' | 'doc_edited' | 'doc_deleted'
  /** Within 24 hours, events with the same key are one event. */
  readonly idempotency_key?: string
  /** Time of the event with milliseconds, in place of `timestamp`. Where both are given, it must be in the second of `timestamp`. */
  readonly happened_at?: string
}

/** One event. Absent values are omitted. `custom_data` of the webhook overrides its fields except those that it may not contain. An event that is not of a call has `ordering_key` in place of `call_id`, or the `id` of a document (`object`). */
export interface Payload {
  /** Event type. */
  readonly hook_event: string
  /** Id of the account of the call. */
  readonly account_id: string
  /** Id of the call leg; of a device, an agent or a message (`sms`), its own. */
  readonly call_id?: string
  /** Id that all legs of a call have: usually the id of its first leg. A leg that joins an older call in a transfer has the id of that call from then on. */
  readonly call_group_id?: string
  /** Id of the leg at the other end, if there is one. */
  readonly other_leg_call_id?: string
  /** Direction of the leg, seen from the platform. */
  readonly call_direction?: 'inbound' | 'outbound'
  /** Calling party, `user@realm`. */
  readonly from?: string
  /** Called party, `user@realm`. */
  readonly to?: string
  /** Requested destination, `user@realm`. */
  readonly request?: string
  /** Where the call entered the platform, `user@realm`; absent for internal calls. */
  readonly inception?: string
  /** Name of the caller. */
  readonly caller_id_name?: string
  /** Number of the caller. */
  readonly caller_id_number?: string
  /** Name of the callee: until the call is answered of the one who was called, then of the one who answered. */
  readonly callee_id_name?: string
  /** Number of the callee. `to` and `request` keep what was dialled. */
  readonly callee_id_number?: string
  /** Who answered the call, from the answer on; absent if only the platform did. */
  readonly answered_by?: {
    /** Number of the party. */
    readonly number?: string
    /** Name of the party. */
    readonly name?: string
    /** Id of its leg. */
    readonly call_id?: string
  }
  /** Where the leg leads: the phone, or the line to the carrier. */
  readonly endpoint?: {
    /** `extension`: a phone of the platform. `trunk`, `gateway`: a line to a carrier. Absent if it is not known. */
    readonly kind?: 'extension' | 'trunk' | 'gateway'
    /** Its name on the platform. */
    readonly name?: string
  }
  /** Id of the user who owns the authorizing device. */
  readonly owner_id?: string
  /** Id of the account that resells to this one. */
  readonly reseller_id?: string
  /** Id of the device or trunk that authorized the leg. */
  readonly authorizing_id?: string
  /** Kind of that device or trunk. */
  readonly authorizing_type?: string
  /** Whether the leg comes from call forwarding. */
  readonly call_forwarded?: boolean
  /** Whether an emergency carrier was used. */
  readonly emergency_resource_used?: boolean
  /** Whether one of the account's own carriers was used. */
  readonly local_resource_used?: boolean
  /** Id of that carrier. */
  readonly local_resource_id?: string
  /** Whether the leg is a loopback of the platform. */
  readonly is_internal_leg?: boolean
  /** Variables of the channel. */
  readonly custom_channel_vars?: Readonly<Record<string, unknown>>
  /** Variables set by applications. */
  readonly custom_application_vars?: Readonly<Record<string, unknown>>
  /** Number that was originally dialled (`channel_bridge`). */
  readonly original_number?: string
  /** Number dialled on the other leg (`channel_bridge`). */
  readonly other_leg_destination_number?: string
  /** Why the leg ended (`channel_destroy`). */
  readonly hangup_cause?: string
  /** The same as a protocol code (`channel_destroy`). */
  readonly hangup_code?: string
  /** Duration of the leg in whole seconds, rounded down (`channel_destroy`). */
  readonly duration_seconds?: number
  /** `duration_seconds` minus `billing_seconds` (`channel_destroy`). */
  readonly ringing_seconds?: number
  /** Whole seconds from the answer to the end, rounded down (`channel_destroy`). */
  readonly billing_seconds?: number
  /** Duration of the leg, or length of the recording, in milliseconds (`channel_destroy`, `recording_ready`). */
  readonly duration_ms?: number
  /** Milliseconds until the answer, or the duration if there was none (`channel_destroy`), or that the phone of the agent rang (`queue_agent_no_answer`). */
  readonly ringing_ms?: number
  /** Milliseconds from the answer to the end (`channel_destroy`). */
  readonly billing_ms?: number
  /** `attended`: the transferring party spoke to the new one before (`channel_transferee`, `channel_transferor`). */
  readonly transfer_type?: 'blind' | 'attended'
  /** Number that the call is transferred to (`channel_transferee`, `channel_transferor`). */
  readonly transfer_to?: string
  /** Id of the leg that the call is transferred to, if it exists (the same two kinds). */
  readonly target_call_id?: string
  /** Whether the call is parked, retrieved, or ended in the slot (`parking`). */
  readonly event_name?: 'PARK_PARKED' | 'PARK_RETRIEVED' | 'PARK_ABANDONED'
  /** Slot in which the call is parked (`parking`). */
  readonly parking_slot?: string
  /** User part of `from` (`voicemail_new`, `missed_call`). */
  readonly from_user?: string
  /** Realm of `from` (`voicemail_new`, `missed_call`, `sms`). */
  readonly from_realm?: string
  /** User part of `to` (`voicemail_new`, `missed_call`). */
  readonly to_user?: string
  /** Realm of `to` (`voicemail_new`, `missed_call`, `sms`). */
  readonly to_realm?: string
  /** Voicemail box, `box` or `box@context` (`voicemail_new`). */
  readonly voicemail_box?: string
  /** Id of the message (`voicemail_new`). */
  readonly voicemail_id?: string
  /** Length of the message in milliseconds (`voicemail_new`). */
  readonly voicemail_length?: number
  /** Whether the call was answered by a user (`missed_call`). */
  readonly call_bridged?: boolean
  /** Whether the caller left a voicemail message (`missed_call`). */
  readonly message_left?: boolean
  /** Name of the queue; absent where an agent logs in to all of them, or out (`queue_…`). */
  readonly queue_id?: string
  /** Position of the caller in the queue, 1 for the next (`queue_join`, `queue_leave`). */
  readonly queue_position?: number
  /** Why the caller left, if the switch reports it (`queue_leave`). */
  readonly queue_leave_reason?: 'answered' | 'abandoned' | 'timeout' | 'no_agent' | 'key'
  /** Seconds that the caller has waited (`queue_leave`, `queue_agent_answer`, `queue_agent_complete`). */
  readonly waiting_seconds?: number
  /** Id of the agent (`queue_agent_…`). */
  readonly agent_id?: string
  /** Id of the leg to the agent (`queue_agent_…`). */
  readonly agent_call_id?: string
  /** Number of the agent's phone (`queue_agent_…`). */
  readonly agent_number?: string
  /** Seconds that agent and caller have talked (`queue_agent_complete`). */
  readonly talking_seconds?: number
  /** Key that was pressed (`channel_dtmf`). The keys of a call may be a secret such as a PIN. */
  readonly dtmf_digit?: string
  /** How long it was pressed, in milliseconds (`channel_dtmf`). */
  readonly dtmf_duration_ms?: number
  /** File of the recording, as the switch names it (`recording_…`). */
  readonly path?: string
  /** Why the recording ended, if the switch reports it: `hangup`, `stopped`, `max_length` or `failed` (`recording_ready`). Who ended the talk: `caller`, `agent`, or `transfer` (`queue_agent_complete`). Why the agent pauses (`queue_agent_pause`). */
  readonly reason?: string
  /** Name of the conference (`conference_…`). */
  readonly name?: string
  /** Id of the member in the conference (`conference_…`). */
  readonly member?: string
  /** How many members the conference has afterwards (`conference_…`). */
  readonly members?: number
  /** User of the device at its realm (`device_…`). */
  readonly username?: string
  /** Realm at which the device is registered (`device_…`). */
  readonly realm?: string
  /** Address under which the device can be reached, a SIP Contact (`device_…`). */
  readonly contact?: string
  /** Model and version of the device, as it says (`device_…`). */
  readonly user_agent?: string
  /** Seconds until the registration ends unless it is renewed (`device_registered`). */
  readonly expires?: number
  /** Text of the message (`sms`). It may be a secret such as a login code. */
  readonly body?: string
  /** State of the message, as the platform names it (`sms`). */
  readonly status?: string
  /** Of a registered kind, in place of the id of a call: what has the same key is numbered and sent in order. */
  readonly ordering_key?: string
  /** Fields of a registered kind. Any JSON object that its schema accepts. */
  readonly data?: Readonly<Record<string, unknown>>
  /** Id of the document (`object`). */
  readonly id?: string
  /** Type of the document, such as `account` or `user` (`object`). */
  readonly type?: string
  /** What happened to the document (`object`). */
  readonly action?: 'doc_created' | 'doc_edited' | 'doc_deleted'
  /** The same as `call_direction` (`sms`). */
  readonly direction?: string
  /** Time of the event, in Gregorian seconds. */
  readonly timestamp: number
  /** Time of the event, UTC, with milliseconds. */
  readonly happened_at: string
  /** Id of the event, the same in every delivery of the event and in replays. */
  readonly event_id: string
  /** Sequence number per account and `call_id`, in order of acceptance: 1, 2, …; 1 in tests. */
  readonly sequence: number
}

/** An event about another webhook. Absent values are omitted. `custom_data` of the webhook overrides its fields except those that it may not contain. */
export interface MetaPayload {
  /** Event type. */
  readonly hook_event: string
  /** Id of the account of the webhook that the event is about. */
  readonly account_id: string
  /** Time of the event, in Gregorian seconds. */
  readonly timestamp: number
  /** Time of the event, UTC, with milliseconds. */
  readonly happened_at: string
  /** Id of the webhook that the event is about. */
  readonly webhook_id: string
  /** Why the last attempt failed, or why the webhook was disabled. */
  readonly reason?: string
  /** Failures since the last success (`webhook_paused`, `webhook_failing`). */
  readonly failures_in_row?: number
  /** Time of the first failure since the last success (`webhook_failing`), in Gregorian seconds. */
  readonly failing_since?: number
  /** Time of the first probe (`webhook_paused`), in Gregorian seconds. */
  readonly paused_until?: number
  /** Id of the delivery (`delivery_exhausted`). */
  readonly delivery_id?: string
  /** Event type of the delivery (`delivery_exhausted`). */
  readonly delivery_hook_event?: string
  /** Id of the call leg of the delivery (`delivery_exhausted`). */
  readonly call_id?: string
  /** Number of attempts made (`delivery_exhausted`). */
  readonly attempts?: number
  /** Deliveries that have expired unsent since the last such event (`webhook_backlog_full`). */
  readonly expired?: number
  /** Whose share of the queue is used up (`webhook_backlog_full`). */
  readonly share?: 'webhook' | 'account' | 'all'
  /** Deliveries that may wait in this share (`webhook_backlog_full`). */
  readonly max_pending?: number
  /** Events of this type and account that were left out since the last one, because there were too many. */
  readonly suppressed?: number
  /** Id of the event, the same in every delivery of the event and in replays. */
  readonly event_id: string
}

/** Attempts over time: every list has one entry for each slot. */
export interface Statistics {
  /** Length of each slot, in seconds. */
  readonly step: 60 | 3600
  /** Start of each slot, in Gregorian seconds, ascending. */
  readonly start: readonly number[]
  /** Delivered attempts. */
  readonly ok: readonly number[]
  /** All other attempts, interrupted ones included. */
  readonly failed: readonly number[]
  /** Failed attempts by cause; a cause that does not occur in the range is absent. */
  readonly outcomes: {
    /** `http_4xx`. */
    readonly http_4xx?: readonly number[]
    /** `http_5xx`. */
    readonly http_5xx?: readonly number[]
    /** `redirect`. */
    readonly redirect?: readonly number[]
    /** `timeout`. */
    readonly timeout?: readonly number[]
    /** `connection`. */
    readonly connection?: readonly number[]
    /** `dns`. */
    readonly dns?: readonly number[]
    /** `tls`. */
    readonly tls?: readonly number[]
    /** `protocol`. */
    readonly protocol?: readonly number[]
    /** `blocked_address`. */
    readonly blocked_address?: readonly number[]
    /** `own_fault`. */
    readonly own_fault?: readonly number[]
    /** `interrupted`. */
    readonly interrupted?: readonly number[]
  }
  /** Failed attempts by HTTP status, or else by the `cause` of the attempt, `own_fault` or `interrupted`; those that are most frequent in the range, at most 20, and the rest under `other`. */
  readonly causes: Readonly<Record<string, readonly number[]>>
  /** Durations of the attempts, in milliseconds, interpolated from 12 buckets; null: none is known. */
  readonly latency_ms: {
    /** Median. */
    readonly p50: ReadonlyArray<number | null>
    /** 95th percentile. */
    readonly p95: ReadonlyArray<number | null>
    /** 99th percentile. */
    readonly p99: ReadonlyArray<number | null>
  }
  /** Slots that end at or before this time are complete, in Gregorian seconds; later ones may still grow. */
  readonly complete_to: number
}

/** The schema `EndpointHealth` of the API. */
export interface EndpointHealth {
  /** Id of the webhook. */
  readonly id: string
  /** Label of the webhook. */
  readonly name: string
  /** URL that receives the requests. */
  readonly uri: string
  /** Group of the webhook. */
  readonly group?: string
  /** `failing`: the last attempt failed. `paused`: nothing is sent before `paused_until`. `disabled`: by its owner or by the service. `idle`: `ok`, and without an attempt in the last 24 hours. */
  readonly state: 'ok' | 'failing' | 'paused' | 'disabled' | 'idle'
  /** Why the service disabled the webhook. */
  readonly disable_reason?: string
  /** Failures since the last success; those in an outage of this service do not count. */
  readonly failures_in_row: number
  /** Time of the first failure since the last success. */
  readonly failing_since?: string
  /** End of the pause; only with the state `paused`. */
  readonly paused_until?: string
  /** Why the last attempt got no usable answer, or why a later probe could not connect; absent otherwise. */
  readonly cause?: string
  /** Present while it is paused because it fails: requests are probes, one at a time. */
  readonly pause?: {
    /** `unavailable`: the receiver could not be reached, or not take requests. `rejected`: it rejected all of them. */
    readonly kind: 'unavailable' | 'rejected'
    /** When the pause began. */
    readonly since: string
  }
  /** Deliveries that ran out of retries since the last success. */
  readonly exhausted: number
  /** Deliveries that wait or are in flight, at most 1,000. */
  readonly pending: number
  /** Whether there may be more than 1,000. */
  readonly pending_capped: boolean
  /** When the first of these deliveries is or was due. */
  readonly oldest_due_at?: string
  /** The newest of the attempts that are kept. */
  readonly last?: {
    /** When it was sent. */
    readonly sent_at: string
    /** Value of `result`. */
    readonly result: 'success' | 'failure'
    /** HTTP status of the response, as a string (KAZOO). */
    readonly resp_status_code?: string
  }
  /** Attempts of each of the last 24 hours, the present one last. Absent where the service keeps no statistics. */
  readonly spark?: {
    /** Delivered attempts. */
    readonly ok: readonly number[]
    /** Other attempts. */
    readonly failed: readonly number[]
  }
}

/** The schema `WebhookHealth` of the API. */
export interface WebhookHealth {
  /** Id of the webhook. */
  readonly id: string
  /** Label of the webhook. */
  readonly name: string
  /** URL that receives the requests. */
  readonly uri: string
  /** Group of the webhook. */
  readonly group?: string
  /** `failing`: the last attempt failed. `paused`: nothing is sent before `paused_until`. `disabled`: by its owner or by the service. `idle`: `ok`, and without an attempt in the last 24 hours. */
  readonly state: 'ok' | 'failing' | 'paused' | 'disabled' | 'idle'
  /** Why the service disabled the webhook. */
  readonly disable_reason?: string
  /** Failures since the last success; those in an outage of this service do not count. */
  readonly failures_in_row: number
  /** Time of the first failure since the last success. */
  readonly failing_since?: string
  /** End of the pause; only with the state `paused`. */
  readonly paused_until?: string
  /** Why the last attempt got no usable answer, or why a later probe could not connect; absent otherwise. */
  readonly cause?: string
  /** Present while it is paused because it fails: requests are probes, one at a time. */
  readonly pause?: {
    /** `unavailable`: the receiver could not be reached, or not take requests. `rejected`: it rejected all of them. */
    readonly kind: 'unavailable' | 'rejected'
    /** When the pause began. */
    readonly since: string
    /** Probes that have failed. */
    readonly probes: number
  }
  /** Deliveries that ran out of retries since the last success. */
  readonly exhausted: number
  /** Deliveries that wait or are in flight, at most 1,000. */
  readonly pending: number
  /** Whether there may be more than 1,000. */
  readonly pending_capped: boolean
  /** When the first of these deliveries is or was due. */
  readonly oldest_due_at?: string
  /** The newest of the attempts that are kept. */
  readonly last?: {
    /** When it was sent. */
    readonly sent_at: string
    /** Value of `result`. */
    readonly result: 'success' | 'failure'
    /** HTTP status of the response, as a string (KAZOO). */
    readonly resp_status_code?: string
  }
  /** Attempts of each of the last 24 hours, the present one last. Absent where the service keeps no statistics. */
  readonly spark?: {
    /** Delivered attempts. */
    readonly ok: readonly number[]
    /** Other attempts. */
    readonly failed: readonly number[]
  }
  /** Value of `last_attempt`. */
  readonly last_attempt?: Attempt
  /** Latest attempts in a row with the same answer as the last one: its status, or the cause of its failure. At most 100. */
  readonly same_answers: number
  /** Whether there may be more than 100. */
  readonly same_answers_capped: boolean
  /** Deliveries accepted since `not_delivered_since` that were given up or became too old, and were not recovered by a replay. At most 1,000. */
  readonly not_delivered: number
  /** Whether there are more than 1,000. */
  readonly not_delivered_capped: boolean
  /** The `created_from` with which a replay selects them: that of the failures since the last success, or 24 hours ago. */
  readonly not_delivered_since: string
  /** When the oldest delivery that waits was accepted; absent if none waits. */
  readonly oldest_accepted_at?: string
  /** When that delivery becomes too old. */
  readonly oldest_expires_at?: string
  /** The maximum age in force, in seconds. */
  readonly max_age_seconds: number
  /** When the webhook was disabled, by its owner or by the service; absent if it is enabled. */
  readonly disabled_at?: string
  /** From when on the service disables the webhook if there is no success until then and at least 20 deliveries were given up; absent if it does not fail. */
  readonly auto_disable_at?: string
}

/** The schema `FoundEndpoint` of the API. */
export interface FoundEndpoint {
  /** Id of the account of the webhook. */
  readonly account_id: string
  /** Name of that account; absent if it was removed. */
  readonly account_name?: string
  /** Id of the webhook. */
  readonly id: string
  /** Label of the webhook. */
  readonly name: string
  /** URL that receives the requests. */
  readonly uri: string
  /** Group of the webhook. */
  readonly group?: string
  /** `failing`: the last attempt failed. `paused`: nothing is sent before `paused_until`. `disabled`: by its owner or by the service. `idle`: `ok`, and without an attempt in the last 24 hours. */
  readonly state: 'ok' | 'failing' | 'paused' | 'disabled' | 'idle'
  /** Why the service disabled the webhook. */
  readonly disable_reason?: string
  /** Failures since the last success; those in an outage of this service do not count. */
  readonly failures_in_row: number
  /** Time of the first failure since the last success. */
  readonly failing_since?: string
  /** End of the pause; only with the state `paused`. */
  readonly paused_until?: string
  /** Why the last attempt got no usable answer, or why a later probe could not connect; absent otherwise. */
  readonly cause?: string
  /** Present while it is paused because it fails: requests are probes, one at a time. */
  readonly pause?: {
    /** `unavailable`: the receiver could not be reached, or not take requests. `rejected`: it rejected all of them. */
    readonly kind: 'unavailable' | 'rejected'
    /** When the pause began. */
    readonly since: string
  }
  /** Deliveries that ran out of retries since the last success. */
  readonly exhausted: number
  /** Deliveries that wait or are in flight, at most 1,000. */
  readonly pending: number
  /** Whether there may be more than 1,000. */
  readonly pending_capped: boolean
  /** When the first of these deliveries is or was due. */
  readonly oldest_due_at?: string
  /** The newest of the attempts that are kept. */
  readonly last?: {
    /** When it was sent. */
    readonly sent_at: string
    /** Value of `result`. */
    readonly result: 'success' | 'failure'
    /** HTTP status of the response, as a string (KAZOO). */
    readonly resp_status_code?: string
  }
  /** Attempts of each of the last 24 hours, the present one last. Absent where the service keeps no statistics. */
  readonly spark?: {
    /** Delivered attempts. */
    readonly ok: readonly number[]
    /** Other attempts. */
    readonly failed: readonly number[]
  }
  /** What `sort=impact` sorts by: deliveries that wait or were given up since its last success, plus 1, times the seconds since it receives none. Absent in other orders. */
  readonly impact?: number
}

/** Parameters of every list. */
export interface ListParameters {
  /** Maximum number of items per page; a page ends at 1 MiB of JSON. */
  readonly pageSize?: number | undefined
  /** `next_start_key` of the previous page. */
  readonly startKey?: string | undefined
  /** Only items that have this field; a dotted name selects a nested field. */
  readonly hasKey?: string | undefined
  /** Only items without this field. */
  readonly keyMissing?: string | undefined
  /** `filter_<field>=value` selects items whose field has this value, `filter_not_<field>=value` items whose field has another value. All conditions must hold; a dotted name selects a nested field. */
  readonly filters?: Readonly<Record<string, string>> | undefined
}

/** Parameters of `signInByApiKey`. */
export interface SignInByApiKeyParameters {
  /** `data` of the request. */
  readonly data: ApiKeyLogin
}

/** Parameters of `signInByCredentials`. */
export interface SignInByCredentialsParameters {
  /** `data` of the request. */
  readonly data: CredentialsLogin
}

/** Parameters of `readApiKey`. */
export interface ReadApiKeyParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
}

/** Parameters of `rotateApiKey`. */
export interface RotateApiKeyParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
}

/** Parameters of `listHooks`. */
export interface ListHooksParameters extends ListParameters {
  /** false: up to 10,000 items in one page. */
  readonly paginate?: boolean | undefined
  /** Only items created at or after this time: Gregorian seconds, or ISO 8601 (`2026-01-31T12:00:00Z`, `2026-01-31`). */
  readonly createdFrom?: number | string | undefined
  /** Only items created at or before this time: Gregorian seconds, or ISO 8601. A second or day includes its end. */
  readonly createdTo?: number | string | undefined
  /** Order of the list; accounts and users are ascending by default. */
  readonly ascending?: boolean | undefined
}

/** Parameters of `readSample`. */
export interface ReadSampleParameters {
  /** Name from the list of samples, or id of a hook. */
  readonly sampleId: string
}

/** Parameters of `listWebhooks`. */
export interface ListWebhooksParameters extends ListParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** false: up to 10,000 items in one page. */
  readonly paginate?: boolean | undefined
  /** Only items created at or after this time: Gregorian seconds, or ISO 8601 (`2026-01-31T12:00:00Z`, `2026-01-31`). */
  readonly createdFrom?: number | string | undefined
  /** Only items created at or before this time: Gregorian seconds, or ISO 8601. A second or day includes its end. */
  readonly createdTo?: number | string | undefined
  /** Order of the list; accounts and users are ascending by default. */
  readonly ascending?: boolean | undefined
}

/** Parameters of `createWebhook`. */
export interface CreateWebhookParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** `data` of the request. */
  readonly data: WebhookSettings
}

/** Parameters of `reenableWebhooks`. */
export interface ReenableWebhooksParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** `data` of the request. */
  readonly data: Reenable
}

/** Parameters of `reenableDescendantWebhooks`. */
export interface ReenableDescendantWebhooksParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** `data` of the request. */
  readonly data: Reenable
}

/** Parameters of `listAttempts`. */
export interface ListAttemptsParameters extends ListParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** true: without `req_*`, `resp_headers` and `resp_body`. */
  readonly slim?: boolean | undefined
  /** `bodies`: with whole `req_body` and `resp_body`; otherwise at most 1 KiB of each. */
  readonly include?: 'bodies' | undefined
  /** false: up to 10,000 items in one page. */
  readonly paginate?: boolean | undefined
  /** Only items created at or after this time: Gregorian seconds, or ISO 8601 (`2026-01-31T12:00:00Z`, `2026-01-31`). */
  readonly createdFrom?: number | string | undefined
  /** Only items created at or before this time: Gregorian seconds, or ISO 8601. A second or day includes its end. */
  readonly createdTo?: number | string | undefined
  /** Order of the list; accounts and users are ascending by default. */
  readonly ascending?: boolean | undefined
}

/** Parameters of `readAccountStats`. */
export interface ReadAccountStatsParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Length of a slot, in seconds. */
  readonly step?: 60 | 3600 | undefined
  /** Only items created at or after this time: Gregorian seconds, or ISO 8601 (`2026-01-31T12:00:00Z`, `2026-01-31`). */
  readonly createdFrom?: number | string | undefined
  /** Only items created at or before this time: Gregorian seconds, or ISO 8601. A second or day includes its end. */
  readonly createdTo?: number | string | undefined
}

/** Parameters of `listEndpoints`. */
export interface ListEndpointsParameters extends ListParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Only webhooks in this state. `idle`: `ok`, and without an attempt in the last 24 hours. */
  readonly state?: 'ok' | 'failing' | 'paused' | 'disabled' | 'idle' | undefined
  /** Only webhooks whose name, URL, group or id contains this text, in any case. */
  readonly q?: string | undefined
}

/** Parameters of `readWebhook`. */
export interface ReadWebhookParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Id of a webhook. */
  readonly webhookId: string
}

/** Parameters of `replaceWebhook`. */
export interface ReplaceWebhookParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Id of a webhook. */
  readonly webhookId: string
  /** `revision` of the response that was changed; if the document has another by now: status 412. */
  readonly ifMatch?: string | undefined
  /** `data` of the request. */
  readonly data: WebhookSettings
}

/** Parameters of `patchWebhook`. */
export interface PatchWebhookParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Id of a webhook. */
  readonly webhookId: string
  /** `revision` of the response that was changed; if the document has another by now: status 412. */
  readonly ifMatch?: string | undefined
  /** `data` of the request. */
  readonly data: WebhookPatch
}

/** Parameters of `deleteWebhook`. */
export interface DeleteWebhookParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Id of a webhook. */
  readonly webhookId: string
  /** `revision` of the response that was changed; if the document has another by now: status 412. */
  readonly ifMatch?: string | undefined
}

/** Parameters of `listWebhookAttempts`. */
export interface ListWebhookAttemptsParameters extends ListParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Id of a webhook. */
  readonly webhookId: string
  /** true: without `req_*`, `resp_headers` and `resp_body`. */
  readonly slim?: boolean | undefined
  /** `bodies`: with whole `req_body` and `resp_body`; otherwise at most 1 KiB of each. */
  readonly include?: 'bodies' | undefined
  /** false: up to 10,000 items in one page. */
  readonly paginate?: boolean | undefined
  /** Only items created at or after this time: Gregorian seconds, or ISO 8601 (`2026-01-31T12:00:00Z`, `2026-01-31`). */
  readonly createdFrom?: number | string | undefined
  /** Only items created at or before this time: Gregorian seconds, or ISO 8601. A second or day includes its end. */
  readonly createdTo?: number | string | undefined
  /** Order of the list; accounts and users are ascending by default. */
  readonly ascending?: boolean | undefined
}

/** Parameters of `readWebhookStats`. */
export interface ReadWebhookStatsParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Id of a webhook. */
  readonly webhookId: string
  /** Length of a slot, in seconds. */
  readonly step?: 60 | 3600 | undefined
  /** Only items created at or after this time: Gregorian seconds, or ISO 8601 (`2026-01-31T12:00:00Z`, `2026-01-31`). */
  readonly createdFrom?: number | string | undefined
  /** Only items created at or before this time: Gregorian seconds, or ISO 8601. A second or day includes its end. */
  readonly createdTo?: number | string | undefined
}

/** Parameters of `readWebhookHealth`. */
export interface ReadWebhookHealthParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Id of a webhook. */
  readonly webhookId: string
}

/** Parameters of `testWebhook`. */
export interface TestWebhookParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Id of a webhook. */
  readonly webhookId: string
}

/** Parameters of `replayWebhook`. */
export interface ReplayWebhookParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Id of a webhook. */
  readonly webhookId: string
  /** `data` of the request. */
  readonly data: Replay
}

/** Parameters of `resumeWebhook`. */
export interface ResumeWebhookParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Id of a webhook. */
  readonly webhookId: string
}

/** Parameters of `previewWebhook`. */
export interface PreviewWebhookParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** `data` of the request. */
  readonly data: {
    /** Value of `webhook`. */
    readonly webhook: WebhookSettings
    /** Event type of the sample. Default: the webhook's; of `all`, the first of `only`, or `channel_create`. */
    readonly hook?: string
  }
}

/** Parameters of `checkAddress`. */
export interface CheckAddressParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** `data` of the request. */
  readonly data: Address
}

/** Parameters of `listDeliveries`. */
export interface ListDeliveriesParameters extends ListParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Id of a webhook. */
  readonly webhookId: string
  /** Only deliveries in this state. */
  readonly filterState?: string | undefined
  /** false: up to 10,000 items in one page. */
  readonly paginate?: boolean | undefined
  /** Only items created at or after this time: Gregorian seconds, or ISO 8601 (`2026-01-31T12:00:00Z`, `2026-01-31`). */
  readonly createdFrom?: number | string | undefined
  /** Only items created at or before this time: Gregorian seconds, or ISO 8601. A second or day includes its end. */
  readonly createdTo?: number | string | undefined
  /** Order of the list; accounts and users are ascending by default. */
  readonly ascending?: boolean | undefined
}

/** Parameters of `readSecret`. */
export interface ReadSecretParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Id of a webhook. */
  readonly webhookId: string
}

/** Parameters of `rotateSecret`. */
export interface RotateSecretParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Id of a webhook. */
  readonly webhookId: string
}

/** Parameters of `readDelivery`. */
export interface ReadDeliveryParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Id of a delivery. */
  readonly deliveryId: string
}

/** Parameters of `listDeliveryAttempts`. */
export interface ListDeliveryAttemptsParameters extends ListParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Id of a delivery. */
  readonly deliveryId: string
  /** true: without `req_*`, `resp_headers` and `resp_body`. */
  readonly slim?: boolean | undefined
  /** `bodies`: with whole `req_body` and `resp_body`; otherwise at most 1 KiB of each. */
  readonly include?: 'bodies' | undefined
  /** false: up to 10,000 items in one page. */
  readonly paginate?: boolean | undefined
  /** Only items created at or after this time: Gregorian seconds, or ISO 8601 (`2026-01-31T12:00:00Z`, `2026-01-31`). */
  readonly createdFrom?: number | string | undefined
  /** Only items created at or before this time: Gregorian seconds, or ISO 8601. A second or day includes its end. */
  readonly createdTo?: number | string | undefined
  /** Order of the list; accounts and users are ascending by default. */
  readonly ascending?: boolean | undefined
}

/** Parameters of `readCall`. */
export interface ReadCallParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Id of a call leg, percent-encoded as one path segment. */
  readonly callId: string
}

/** Parameters of `listCallAttempts`. */
export interface ListCallAttemptsParameters extends ListParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Id of a call leg, percent-encoded as one path segment. */
  readonly callId: string
  /** true: without `req_*`, `resp_headers` and `resp_body`. */
  readonly slim?: boolean | undefined
  /** `bodies`: with whole `req_body` and `resp_body`; otherwise at most 1 KiB of each. */
  readonly include?: 'bodies' | undefined
  /** false: up to 10,000 items in one page. */
  readonly paginate?: boolean | undefined
  /** Only items created at or after this time: Gregorian seconds, or ISO 8601 (`2026-01-31T12:00:00Z`, `2026-01-31`). */
  readonly createdFrom?: number | string | undefined
  /** Only items created at or before this time: Gregorian seconds, or ISO 8601. A second or day includes its end. */
  readonly createdTo?: number | string | undefined
  /** Order of the list; accounts and users are ascending by default. */
  readonly ascending?: boolean | undefined
}

/** Parameters of `replayAccount`. */
export interface ReplayAccountParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** `data` of the request. */
  readonly data: ReplaySelection
}

/** Parameters of `listReplays`. */
export interface ListReplaysParameters extends ListParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Only items created at or after this time: Gregorian seconds, or ISO 8601 (`2026-01-31T12:00:00Z`, `2026-01-31`). */
  readonly createdFrom?: number | string | undefined
  /** Only items created at or before this time: Gregorian seconds, or ISO 8601. A second or day includes its end. */
  readonly createdTo?: number | string | undefined
}

/** Parameters of `readReplay`. */
export interface ReadReplayParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Id of a replay. */
  readonly replayId: string
}

/** Parameters of `setReplay`. */
export interface SetReplayParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Id of a replay. */
  readonly replayId: string
  /** `data` of the request. */
  readonly data: ReplayState
}

/** Parameters of `publishEvents`. */
export interface PublishEventsParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** `data` of the request. */
  readonly data: EventInput | readonly EventInput[]
}

/** Parameters of `matchEvent`. */
export interface MatchEventParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** `data` of the request. */
  readonly data: PartialEvent
}

/** Parameters of `lookUp`. */
export interface LookUpParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** The id of a webhook, delivery, event or call leg. */
  readonly q?: string | undefined
}

/** Parameters of `why`. */
export interface WhyParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** `data` of the request. */
  readonly data: WhyQuestion
}

/** Parameters of `issueToken`. */
export interface IssueTokenParameters {
  /** `data` of the request. */
  readonly data: TokenRequest
}

/** Parameters of `setHold`. */
export interface SetHoldParameters {
  /** `data` of the request. */
  readonly data: Hold
}

/** Parameters of `listJobs`. */
export interface ListJobsParameters extends ListParameters {
  /** Only items created at or after this time: Gregorian seconds, or ISO 8601 (`2026-01-31T12:00:00Z`, `2026-01-31`). */
  readonly createdFrom?: number | string | undefined
  /** Only items created at or before this time: Gregorian seconds, or ISO 8601. A second or day includes its end. */
  readonly createdTo?: number | string | undefined
}

/** Parameters of `startJob`. */
export interface StartJobParameters {
  /** `data` of the request. */
  readonly data: WebhookJobRequest
}

/** Parameters of `readJob`. */
export interface ReadJobParameters {
  /** Id of a job. */
  readonly jobId: string
}

/** Parameters of `setJob`. */
export interface SetJobParameters {
  /** Id of a job. */
  readonly jobId: string
  /** `data` of the request. */
  readonly data: ReplayState
}

/** Parameters of `listUnhealthyWebhooks`. */
export interface ListUnhealthyWebhooksParameters extends ListParameters {
  /** Only webhooks in this state: `failing`, `paused` or `disabled`. */
  readonly state?: 'failing' | 'paused' | 'disabled' | undefined
  /** Only webhooks of this account, without those below it. */
  readonly accountId?: string | undefined
  /** Only webhooks with this `cause`, or whose last response had this status, as `503`. */
  readonly cause?: string | undefined
  /** Only webhooks whose URL has this host, as `crm.example.com` on any port, or `127.0.0.1:8080`. */
  readonly host?: string | undefined
  /** Only webhooks that have failed since this time or a later one: Gregorian seconds, or ISO 8601. */
  readonly since?: number | string | undefined
  /** Only webhooks that have failed since this time or an earlier one: Gregorian seconds, or ISO 8601. */
  readonly until?: number | string | undefined
  /** `impact`: those first that hurt most. Default: by id. */
  readonly sort?: 'impact' | undefined
}

/** Parameters of `searchDeliveries`. */
export interface SearchDeliveriesParameters extends ListParameters {
  /** Only deliveries to webhooks of this account. */
  readonly accountId?: string | undefined
  /** Only deliveries to this webhook. */
  readonly hookId?: string | undefined
  /** Only deliveries of events of this call leg. */
  readonly callId?: string | undefined
  /** Only deliveries in this state. */
  readonly state?: string | undefined
  /** Only items created at or after this time: Gregorian seconds, or ISO 8601 (`2026-01-31T12:00:00Z`, `2026-01-31`). */
  readonly createdFrom?: number | string | undefined
  /** Only items created at or before this time: Gregorian seconds, or ISO 8601. A second or day includes its end. */
  readonly createdTo?: number | string | undefined
}

/** Parameters of `lookUpAnywhere`. */
export interface LookUpAnywhereParameters {
  /** The id of a webhook, delivery, event, call leg or account, or how the name of an account begins (letters and digits only, in any case). */
  readonly q?: string | undefined
}

/** Parameters of `whyAnywhere`. */
export interface WhyAnywhereParameters {
  /** `data` of the request. */
  readonly data: WhyQuestion
}

/** Parameters of `replayAllAccounts`. */
export interface ReplayAllAccountsParameters {
  /** `data` of the request. */
  readonly data: ReplaySelection
}

/** Parameters of `listAllReplays`. */
export interface ListAllReplaysParameters extends ListParameters {
  /** Only items created at or after this time: Gregorian seconds, or ISO 8601 (`2026-01-31T12:00:00Z`, `2026-01-31`). */
  readonly createdFrom?: number | string | undefined
  /** Only items created at or before this time: Gregorian seconds, or ISO 8601. A second or day includes its end. */
  readonly createdTo?: number | string | undefined
}

/** Parameters of `readAnyReplay`. */
export interface ReadAnyReplayParameters {
  /** Id of a replay. */
  readonly replayId: string
}

/** Parameters of `setAnyReplay`. */
export interface SetAnyReplayParameters {
  /** Id of a replay. */
  readonly replayId: string
  /** `data` of the request. */
  readonly data: ReplayState
}

/** Parameters of `listAccounts`. */
export interface ListAccountsParameters extends ListParameters {
  /** false: up to 10,000 items in one page. */
  readonly paginate?: boolean | undefined
  /** Only items created at or after this time: Gregorian seconds, or ISO 8601 (`2026-01-31T12:00:00Z`, `2026-01-31`). */
  readonly createdFrom?: number | string | undefined
  /** Only items created at or before this time: Gregorian seconds, or ISO 8601. A second or day includes its end. */
  readonly createdTo?: number | string | undefined
  /** Order of the list; accounts and users are ascending by default. */
  readonly ascending?: boolean | undefined
}

/** Parameters of `createAccount`. */
export interface CreateAccountParameters {
  /** true: show the API key, to an admin. */
  readonly includeApiKey?: boolean | undefined
  /** `data` of the request. */
  readonly data: AccountFields
}

/** Parameters of `readAccount`. */
export interface ReadAccountParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** true: show the API key, to an admin. */
  readonly includeApiKey?: boolean | undefined
}

/** Parameters of `createChildAccount`. */
export interface CreateChildAccountParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** true: show the API key, to an admin. */
  readonly includeApiKey?: boolean | undefined
  /** `data` of the request. */
  readonly data: AccountFields
}

/** Parameters of `replaceAccount`. */
export interface ReplaceAccountParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** `revision` of the response that was changed; if the document has another by now: status 412. */
  readonly ifMatch?: string | undefined
  /** `data` of the request. */
  readonly data: AccountFields
}

/** Parameters of `patchAccount`. */
export interface PatchAccountParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** `revision` of the response that was changed; if the document has another by now: status 412. */
  readonly ifMatch?: string | undefined
  /** `data` of the request. */
  readonly data: AccountPatch
}

/** Parameters of `deleteAccount`. */
export interface DeleteAccountParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** `revision` of the response that was changed; if the document has another by now: status 412. */
  readonly ifMatch?: string | undefined
}

/** Parameters of `listChildren`. */
export interface ListChildrenParameters extends ListParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** false: up to 10,000 items in one page. */
  readonly paginate?: boolean | undefined
  /** Only items created at or after this time: Gregorian seconds, or ISO 8601 (`2026-01-31T12:00:00Z`, `2026-01-31`). */
  readonly createdFrom?: number | string | undefined
  /** Only items created at or before this time: Gregorian seconds, or ISO 8601. A second or day includes its end. */
  readonly createdTo?: number | string | undefined
  /** Order of the list; accounts and users are ascending by default. */
  readonly ascending?: boolean | undefined
}

/** Parameters of `listDescendants`. */
export interface ListDescendantsParameters extends ListParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** false: up to 10,000 items in one page. */
  readonly paginate?: boolean | undefined
  /** Only items created at or after this time: Gregorian seconds, or ISO 8601 (`2026-01-31T12:00:00Z`, `2026-01-31`). */
  readonly createdFrom?: number | string | undefined
  /** Only items created at or before this time: Gregorian seconds, or ISO 8601. A second or day includes its end. */
  readonly createdTo?: number | string | undefined
  /** Order of the list; accounts and users are ascending by default. */
  readonly ascending?: boolean | undefined
}

/** Parameters of `listSiblings`. */
export interface ListSiblingsParameters extends ListParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** false: up to 10,000 items in one page. */
  readonly paginate?: boolean | undefined
  /** Only items created at or after this time: Gregorian seconds, or ISO 8601 (`2026-01-31T12:00:00Z`, `2026-01-31`). */
  readonly createdFrom?: number | string | undefined
  /** Only items created at or before this time: Gregorian seconds, or ISO 8601. A second or day includes its end. */
  readonly createdTo?: number | string | undefined
  /** Order of the list; accounts and users are ascending by default. */
  readonly ascending?: boolean | undefined
}

/** Parameters of `listTree`. */
export interface ListTreeParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
}

/** Parameters of `listParents`. */
export interface ListParentsParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
}

/** Parameters of `listAncestors`. */
export interface ListAncestorsParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
}

/** Parameters of `moveAccount`. */
export interface MoveAccountParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** `data` of the request. */
  readonly data: {
    /** Id of the new parent. */
    readonly to: string
  }
}

/** Parameters of `eraseRecords`. */
export interface EraseRecordsParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** `data` of the request. */
  readonly data: {
    /** Erases this call and its other legs. */
    readonly call_id?: string
    /** Erases all calls of this number or user name. */
    readonly number?: string
  }
}

/** Parameters of `listApps`. */
export interface ListAppsParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
}

/** Parameters of `listUsers`. */
export interface ListUsersParameters extends ListParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** false: up to 10,000 items in one page. */
  readonly paginate?: boolean | undefined
  /** Only items created at or after this time: Gregorian seconds, or ISO 8601 (`2026-01-31T12:00:00Z`, `2026-01-31`). */
  readonly createdFrom?: number | string | undefined
  /** Only items created at or before this time: Gregorian seconds, or ISO 8601. A second or day includes its end. */
  readonly createdTo?: number | string | undefined
  /** Order of the list; accounts and users are ascending by default. */
  readonly ascending?: boolean | undefined
}

/** Parameters of `createUser`. */
export interface CreateUserParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** `data` of the request. */
  readonly data: UserFields
}

/** Parameters of `readUser`. */
export interface ReadUserParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Id of a user. */
  readonly userId: string
}

/** Parameters of `replaceUser`. */
export interface ReplaceUserParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Id of a user. */
  readonly userId: string
  /** `revision` of the response that was changed; if the document has another by now: status 412. */
  readonly ifMatch?: string | undefined
  /** `data` of the request. */
  readonly data: UserFields
}

/** Parameters of `patchUser`. */
export interface PatchUserParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Id of a user. */
  readonly userId: string
  /** `revision` of the response that was changed; if the document has another by now: status 412. */
  readonly ifMatch?: string | undefined
  /** `data` of the request. */
  readonly data: UserPatch
}

/** Parameters of `deleteUser`. */
export interface DeleteUserParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Id of a user. */
  readonly userId: string
  /** `revision` of the response that was changed; if the document has another by now: status 412. */
  readonly ifMatch?: string | undefined
}

/** Parameters of `search`. */
export interface SearchParameters extends ListParameters {
  /** Type of document. */
  readonly t?: 'account' | undefined
  /** Field to search. */
  readonly q?: 'name' | 'realm' | 'id' | undefined
  /** How the value of the field begins. */
  readonly v?: string | undefined
  /** false: up to 10,000 items in one page. */
  readonly paginate?: boolean | undefined
  /** Only items created at or after this time: Gregorian seconds, or ISO 8601 (`2026-01-31T12:00:00Z`, `2026-01-31`). */
  readonly createdFrom?: number | string | undefined
  /** Only items created at or before this time: Gregorian seconds, or ISO 8601. A second or day includes its end. */
  readonly createdTo?: number | string | undefined
  /** Order of the list; accounts and users are ascending by default. */
  readonly ascending?: boolean | undefined
}

/** Parameters of `searchMany`. */
export interface SearchManyParameters {
  /** Type of document. */
  readonly t?: 'account' | undefined
  /** How the name begins. */
  readonly byName?: string | undefined
  /** How the realm begins. */
  readonly byRealm?: string | undefined
  /** How the id begins. */
  readonly byId?: string | undefined
}

/** Parameters of `searchAccount`. */
export interface SearchAccountParameters extends ListParameters {
  /** Id of the token's account or of one of its descendants. Default: the account of the token. */
  readonly accountId?: string | undefined
  /** Type of document. */
  readonly t?: 'account' | undefined
  /** Field to search. */
  readonly q?: 'name' | 'realm' | 'id' | undefined
  /** How the value of the field begins. */
  readonly v?: string | undefined
  /** false: up to 10,000 items in one page. */
  readonly paginate?: boolean | undefined
  /** Only items created at or after this time: Gregorian seconds, or ISO 8601 (`2026-01-31T12:00:00Z`, `2026-01-31`). */
  readonly createdFrom?: number | string | undefined
  /** Only items created at or before this time: Gregorian seconds, or ISO 8601. A second or day includes its end. */
  readonly createdTo?: number | string | undefined
  /** Order of the list; accounts and users are ascending by default. */
  readonly ascending?: boolean | undefined
}

/** Every operation of the HTTP API, with the names of its OpenAPI document. */
export interface Operations {
  /** Exchange an API key for a token: `PUT /api_auth`. `auth_token` in the response is the token for later requests. */
  signInByApiKey(parameters: SignInByApiKeyParameters, options?: CallOptions): Promise<ApiResponse<Login>>
  /** Exchange a hash of username and password for a token: `PUT /user_auth`. `auth_token` in the response is the token for later requests. */
  signInByCredentials(parameters: SignInByCredentialsParameters, options?: CallOptions): Promise<ApiResponse<Login>>
  /** Read what the token may do: `GET /token_auth`. */
  readToken(options?: CallOptions): Promise<ApiResponse<Token>>
  /** Revoke the token: `DELETE /token_auth`. */
  signOut(options?: CallOptions): Promise<ApiResponse<Readonly<Record<string, unknown>>>>
  /** Read the account's API key: `GET /accounts/{account_id}/api_key`. */
  readApiKey(parameters?: ReadApiKeyParameters, options?: CallOptions): Promise<ApiResponse<{
    /** The key. */
    readonly api_key: string
  }>>
  /** Generate a new API key: `PUT /accounts/{account_id}/api_key`. The old key, and the tokens issued for it, are invalid at once. */
  rotateApiKey(parameters?: RotateApiKeyParameters, options?: CallOptions): Promise<ApiResponse<{
    /** The key. */
    readonly api_key: string
  }>>
  /** List the event types: `GET /webhooks`. */
  listHooks(parameters?: ListHooksParameters, options?: CallOptions): List<Hook>
  /** List the samples: `GET /webhooks/samples`. */
  listSamples(options?: CallOptions): Promise<ApiResponse<readonly string[]>>
  /** Read sample payloads as a receiver gets them: `GET /webhooks/samples/{sample_id}`. */
  readSample(parameters: ReadSampleParameters, options?: CallOptions): Promise<ApiResponse<ReadonlyArray<Payload | MetaPayload>>>
  /** List the bindings of the WebSocket service: `GET /websockets`. The call events that a client of `hookswitch/blackhole` can subscribe to. In a subscription, the id of a call or `*` stands in place of `{CALL_ID}`, and `*` may stand in place of the event. */
  listBindings(options?: CallOptions): Promise<ApiResponse<{
    /** Value of `call`. */
    readonly call: readonly string[]
  }>>
  /** List the webhooks of the account: `GET /accounts/{account_id}/webhooks`. Sorted by name. */
  listWebhooks(parameters?: ListWebhooksParameters, options?: CallOptions): List<WebhookSummary>
  /** Create a webhook: `PUT /accounts/{account_id}/webhooks`. */
  createWebhook(parameters: CreateWebhookParameters, options?: CallOptions): Promise<ApiResponse<Webhook>>
  /** Enable automatically disabled webhooks: `PATCH /accounts/{account_id}/webhooks`. */
  reenableWebhooks(parameters: ReenableWebhooksParameters, options?: CallOptions): Promise<ApiResponse<'hooks updated'>>
  /** Enable automatically disabled webhooks of the account and its descendants: `PATCH /accounts/{account_id}/descendants/webhooks`. */
  reenableDescendantWebhooks(parameters: ReenableDescendantWebhooksParameters, options?: CallOptions): Promise<ApiResponse<'hooks updated'>>
  /** List recent attempts of all webhooks: `GET /accounts/{account_id}/webhooks/attempts`. Newest first. */
  listAttempts(parameters?: ListAttemptsParameters, options?: CallOptions): List<Attempt>
  /** Read statistics of all webhooks: `GET /accounts/{account_id}/webhooks/stats`. Attempts of the account's own webhooks. An attempt counts in the slot of its `sent_at`, once its result is recorded; deliveries that ended without a request do not count. At most 900 slots, which are kept for 3 hours (60 s) and 35 days (3,600 s); older and future ones are left out. `created_from` is 1 hour or 24 hours before `created_to` by default, and `created_to` now. */
  readAccountStats(parameters?: ReadAccountStatsParameters, options?: CallOptions): Promise<ApiResponse<Statistics>>
  /** List the webhooks of the account by their health: `GET /accounts/{account_id}/webhooks/health`. State, backlog, last attempt and the attempts of the last 24 hours. Sorted by name. A page has at most 200 webhooks, and may be short although more follow: `next_start_key` leads on. */
  listEndpoints(parameters?: ListEndpointsParameters, options?: CallOptions): List<EndpointHealth>
  /** Read a webhook: `GET /accounts/{account_id}/webhooks/{webhook_id}`. `data` is `undefined` with status 304: the revision is still current. */
  readWebhook(parameters: ReadWebhookParameters & { readonly ifNoneMatch: string }, options?: CallOptions): Promise<ApiResponse<Webhook | undefined>>
  /** Read a webhook: `GET /accounts/{account_id}/webhooks/{webhook_id}`. */
  readWebhook(parameters: ReadWebhookParameters, options?: CallOptions): Promise<ApiResponse<Webhook>>
  /** Replace a webhook: `POST /accounts/{account_id}/webhooks/{webhook_id}`. Replaces every field; omitted fields, including `enabled`, get their defaults. */
  replaceWebhook(parameters: ReplaceWebhookParameters, options?: CallOptions): Promise<ApiResponse<Webhook>>
  /** Change some fields of a webhook: `PATCH /accounts/{account_id}/webhooks/{webhook_id}`. Applies a JSON merge patch (RFC 7396), then validates the whole webhook; `null` removes a field. */
  patchWebhook(parameters: PatchWebhookParameters, options?: CallOptions): Promise<ApiResponse<Webhook>>
  /** Delete a webhook: `DELETE /accounts/{account_id}/webhooks/{webhook_id}`. Returns the webhook as it was. Waiting deliveries are cancelled; attempts stay available. */
  deleteWebhook(parameters: DeleteWebhookParameters, options?: CallOptions): Promise<ApiResponse<Webhook>>
  /** List recent attempts of one webhook: `GET /accounts/{account_id}/webhooks/{webhook_id}/attempts`. Newest first. */
  listWebhookAttempts(parameters: ListWebhookAttemptsParameters, options?: CallOptions): List<Attempt>
  /** Read statistics of one webhook: `GET /accounts/{account_id}/webhooks/{webhook_id}/stats`. An attempt counts in the slot of its `sent_at`, once its result is recorded; deliveries that ended without a request do not count. At most 900 slots, which are kept for 3 hours (60 s) and 35 days (3,600 s); older and future ones are left out. `created_from` is 1 hour or 24 hours before `created_to` by default, and `created_to` now. */
  readWebhookStats(parameters: ReadWebhookStatsParameters, options?: CallOptions): Promise<ApiResponse<Statistics>>
  /** Read the health of a webhook: `GET /accounts/{account_id}/webhooks/{webhook_id}/health`. The entry of the webhook in `GET /accounts/{account_id}/webhooks/health`, with its last attempt, the pause in force, and what was not delivered. */
  readWebhookHealth(parameters: ReadWebhookHealthParameters, options?: CallOptions): Promise<ApiResponse<WebhookHealth>>
  /** Send a sample event now, even if the webhook is disabled: `PUT /accounts/{account_id}/webhooks/{webhook_id}/test`. */
  testWebhook(parameters: TestWebhookParameters, options?: CallOptions): Promise<ApiResponse<{
    /** Id of the delivery of the sample. */
    readonly delivery_id: string
  }>>
  /** Send deliveries of a webhook again: `PUT /accounts/{account_id}/webhooks/{webhook_id}/replay`. With `delivery_id` that one: a new delivery with a new id and the same bytes. Otherwise a job repeats all that the selection finds. Without a field these are all deliveries that were not delivered. Each is repeated once: deliveries that a replay has delivered or is about to deliver are left out. The job keeps the order within each call and survives restarts. An unknown field is an error. The 200 is that of `dry_run`; 429 while another one of the account is being counted. 409 if the webhook is disabled, or the delivery has not ended. */
  replayWebhook(parameters: ReplayWebhookParameters, options?: CallOptions): Promise<ApiResponse<ReplayCount | {
    /** Value of `delivery_ids`. */
    readonly delivery_ids: readonly string[]
  } | ReplayJob>>
  /** End the pause of a webhook: `PUT /accounts/{account_id}/webhooks/{webhook_id}/resume`. Its waiting deliveries are due now, retries included: one request first, then twice as many with each round that was answered. If the receiver still fails, a new pause begins. Changes nothing if the webhook is not paused; 409 if it is disabled. */
  resumeWebhook(parameters: ResumeWebhookParameters, options?: CallOptions): Promise<ApiResponse<Webhook>>
  /** Show the request that a webhook would send: `PUT /accounts/{account_id}/webhooks/preview`. For the sample of an event; nothing is sent or stored. Values of custom headers, and of those that are different in each request, are placeholders such as `$AUTHORIZATION`. */
  previewWebhook(parameters: PreviewWebhookParameters, options?: CallOptions): Promise<ApiResponse<RequestPreview>>
  /** Check whether requests could be sent to a URL: `PUT /accounts/{account_id}/webhooks/check`. Connects as an attempt would, TLS included, and sends nothing; at most 5 s, and as long before it where the checks of many accounts are under way. 429 after 10 checks of the account in a minute, or while 2 are under way (1 while many are). */
  checkAddress(parameters: CheckAddressParameters, options?: CallOptions): Promise<ApiResponse<CheckedAddress>>
  /** List deliveries of one webhook: `GET /accounts/{account_id}/webhooks/{webhook_id}/deliveries`. Newest first. */
  listDeliveries(parameters: ListDeliveriesParameters, options?: CallOptions): List<Delivery>
  /** Read the signing secret: `GET /accounts/{account_id}/webhooks/{webhook_id}/secret`. */
  readSecret(parameters: ReadSecretParameters, options?: CallOptions): Promise<ApiResponse<{
    /** Signing key: `whsec_` and base64 (Standard Webhooks). */
    readonly secret: string
  }>>
  /** Generate a new signing secret: `PUT /accounts/{account_id}/webhooks/{webhook_id}/secret`. For 24 hours, requests are also signed with the old secret. */
  rotateSecret(parameters: RotateSecretParameters, options?: CallOptions): Promise<ApiResponse<{
    /** Signing key: `whsec_` and base64 (Standard Webhooks). */
    readonly secret: string
  }>>
  /** Read a delivery with an explanation of its state: `GET /accounts/{account_id}/deliveries/{delivery_id}`. */
  readDelivery(parameters: ReadDeliveryParameters, options?: CallOptions): Promise<ApiResponse<Delivery>>
  /** List the attempts of a delivery: `GET /accounts/{account_id}/deliveries/{delivery_id}/attempts`. Newest first. */
  listDeliveryAttempts(parameters: ListDeliveryAttemptsParameters, options?: CallOptions): List<Attempt>
  /** Read the history of a call: `GET /accounts/{account_id}/calls/{call_id}`. Its legs and the newest 500 of their events, oldest first, with their deliveries to webhooks of the account. `unwanted` are events that no webhook of the account matched, or that were pruned. `records` says how much of the call is still stored. */
  readCall(parameters: ReadCallParameters, options?: CallOptions): Promise<ApiResponse<Call>>
  /** List the attempts of all legs of a call: `GET /accounts/{account_id}/calls/{call_id}/attempts`. Newest first. */
  listCallAttempts(parameters: ListCallAttemptsParameters, options?: CallOptions): List<Attempt>
  /** Send deliveries of all webhooks of the account and its descendants again: `PUT /accounts/{account_id}/replay`. A job repeats all that the selection finds. Without a field these are all deliveries that were not delivered. Each is repeated once: deliveries that a replay has delivered or is about to deliver are left out. The job keeps the order within each call and survives restarts. An unknown field is an error. The 200 is that of `dry_run`; 429 while another one of the account is being counted. */
  replayAccount(parameters: ReplayAccountParameters, options?: CallOptions): Promise<ApiResponse<ReplayCount | ReplayJob>>
  /** List the replays of the account: `GET /accounts/{account_id}/replays`. Newest first. */
  listReplays(parameters?: ListReplaysParameters, options?: CallOptions): List<ReplayJob>
  /** Read a replay and its progress: `GET /accounts/{account_id}/replays/{replay_id}`. */
  readReplay(parameters: ReadReplayParameters, options?: CallOptions): Promise<ApiResponse<ReplayJob>>
  /** Pause, continue or cancel a replay: `POST /accounts/{account_id}/replays/{replay_id}`. What it has repeated already is still sent. 409 if it has ended. */
  setReplay(parameters: SetReplayParameters, options?: CallOptions): Promise<ApiResponse<ReplayJob>>
  /** Publish one or more events: `PUT /accounts/{account_id}/events`. All events are checked before any is accepted: if one is invalid, none is accepted. A list of more than 20 events and deliveries may be accepted in parts, in order. If a later part cannot be accepted (409 or 503), `data.accepted_events` of the error is the number of events before it, which are accepted. To repeat the whole list safely, give each event an idempotency key. */
  publishEvents(parameters: PublishEventsParameters, options?: CallOptions): Promise<ApiResponse<{
    /** Value of `event_ids`. */
    readonly event_ids: readonly string[]
  }>>
  /** Tell which webhooks of the account would get an event, and why others would not: `PUT /accounts/{account_id}/events/match`. Of the event, only `hook` is required; a filter sees the fields that are given. `account_id` may be an account below. Sorted by name. Not paged. */
  matchEvent(parameters: MatchEventParameters, options?: CallOptions): Promise<ApiResponse<readonly Match[]>>
  /** Find what an id belongs to: `GET /accounts/{account_id}/lookup`. The webhook, delivery, event and call of the account that have this id; usually one of them. An empty list: none. Not paged. */
  lookUp(parameters?: LookUpParameters, options?: CallOptions): Promise<ApiResponse<readonly LookedUp[]>>
  /** Find out why something was not delivered: `PUT /accounts/{account_id}/why`. Of a call, a number, an event, a delivery or a webhook: which events were accepted, which webhooks matched, what happened to each delivery, and why the other webhooks have none. Events that no webhook wanted are kept for a day. At most the newest 5 calls with the newest 50 events each, fewer of large events. Nothing found is no error. Events of the account, and deliveries to its webhooks. */
  why(parameters: WhyParameters, options?: CallOptions): Promise<ApiResponse<Why>>
  /** Issue a token without a login: `PUT /system/tokens`. For a user whom the host has signed in itself. It is revoked as the token of a login. Only for the token of an operator, otherwise 403. */
  issueToken(parameters: IssueTokenParameters, options?: CallOptions): Promise<ApiResponse<IssuedToken>>
  /** Read the state of the service: `GET /system/overview`. What is in flight and due is that of the node that responds. Only for the token of an operator, otherwise 403. */
  readOverview(options?: CallOptions): Promise<ApiResponse<Overview>>
  /** Read what is held: `GET /system/holds`. On all nodes. Only for the token of an operator, otherwise 403. */
  readHolds(options?: CallOptions): Promise<ApiResponse<Holds>>
  /** Hold deliveries, or release them: `POST /system/holds`. While deliveries are held, events are accepted and nothing is sent, also of tests and replays. Requests in flight end. Other nodes follow within 10 s. A restart does not end a hold. Deliveries grow older meanwhile: those above the age of their webhook expire when they are released. Only for the token of an operator, otherwise 403. */
  setHold(parameters: SetHoldParameters, options?: CallOptions): Promise<ApiResponse<Holds | WebhookCounts>>
  /** List the jobs that change webhooks: `GET /system/jobs`. Newest first. Only for the token of an operator, otherwise 403. */
  listJobs(parameters?: ListJobsParameters, options?: CallOptions): List<WebhookJob>
  /** Change webhooks of all accounts: `PUT /system/jobs`. A job changes all that are selected when it runs, those of all accounts or of one. It survives restarts. What was not so when it was requested stays, so that nothing is changed twice; the same request returns the job that has not ended. Only for the token of an operator, otherwise 403. */
  startJob(parameters: StartJobParameters, options?: CallOptions): Promise<ApiResponse<WebhookCounts | WebhookJob>>
  /** Read a job and its progress: `GET /system/jobs/{job_id}`. Only for the token of an operator, otherwise 403. */
  readJob(parameters: ReadJobParameters, options?: CallOptions): Promise<ApiResponse<WebhookJob>>
  /** Pause, continue or cancel a job: `POST /system/jobs/{job_id}`. What it has changed stays changed. 409 if it has ended. Only for the token of an operator, otherwise 403. */
  setJob(parameters: SetJobParameters, options?: CallOptions): Promise<ApiResponse<WebhookJob>>
  /** List the webhooks of all accounts that need attention: `GET /system/endpoints`. Those that fail, are paused, or were disabled by the service. With `sort=impact` the first 5,000 that are selected, in the order of ids, are compared for each page; the last page says with `truncated` that there are more. A page has at most 200. Only for the token of an operator, otherwise 403. */
  listUnhealthyWebhooks(parameters?: ListUnhealthyWebhooksParameters, options?: CallOptions): List<FoundEndpoint>
  /** Search the deliveries of all accounts: `GET /system/deliveries`. Newest first. A page may be short although more follow: `next_start_key` leads on. Only for the token of an operator, otherwise 403. */
  searchDeliveries(parameters?: SearchDeliveriesParameters, options?: CallOptions): List<FoundDelivery>
  /** Find what an id or a name belongs to, in all accounts: `GET /system/lookup`. At most 10 accounts whose name begins like that. An empty list: nothing. Not paged. Only for the token of an operator, otherwise 403. */
  lookUpAnywhere(parameters?: LookUpAnywhereParameters, options?: CallOptions): Promise<ApiResponse<readonly LookedUp[]>>
  /** Find out why something was not delivered, in all accounts: `PUT /system/why`. Of a call, a number, an event, a delivery or a webhook: which events were accepted, which webhooks matched, what happened to each delivery, and why the other webhooks have none. Events that no webhook wanted are kept for a day. At most the newest 5 calls with the newest 50 events each, fewer of large events. Nothing found is no error. Only for the token of an operator, otherwise 403. */
  whyAnywhere(parameters: WhyAnywhereParameters, options?: CallOptions): Promise<ApiResponse<Why>>
  /** Send deliveries of all accounts again: `PUT /system/replay`. A job repeats all that the selection finds. Without a field these are all deliveries that were not delivered. Each is repeated once: deliveries that a replay has delivered or is about to deliver are left out. The job keeps the order within each call and survives restarts. An unknown field is an error. The 200 is that of `dry_run`; 429 while another one of the account is being counted. Only for the token of an operator, otherwise 403. */
  replayAllAccounts(parameters: ReplayAllAccountsParameters, options?: CallOptions): Promise<ApiResponse<ReplayCount | ReplayJob>>
  /** List the replays of all accounts: `GET /system/replays`. Those of single accounts too. Newest first. Only for the token of an operator, otherwise 403. */
  listAllReplays(parameters?: ListAllReplaysParameters, options?: CallOptions): List<ReplayJob>
  /** Read a replay of any account, or of all: `GET /system/replays/{replay_id}`. Only for the token of an operator, otherwise 403. */
  readAnyReplay(parameters: ReadAnyReplayParameters, options?: CallOptions): Promise<ApiResponse<ReplayJob>>
  /** Pause, continue or cancel a replay of any account, or of all: `POST /system/replays/{replay_id}`. What it has repeated already is still sent. 409 if it has ended. Only for the token of an operator, otherwise 403. */
  setAnyReplay(parameters: SetAnyReplayParameters, options?: CallOptions): Promise<ApiResponse<ReplayJob>>
  /** List all accounts: `GET /accounts`. For operators only. Sorted by name. */
  listAccounts(parameters?: ListAccountsParameters, options?: CallOptions): List<AnyAccount>
  /** Create an account below the token's account: `PUT /accounts`. */
  createAccount(parameters: CreateAccountParameters, options?: CallOptions): Promise<ApiResponse<Account>>
  /** Read an account: `GET /accounts/{account_id}`. `data` is `undefined` with status 304: the revision is still current. */
  readAccount(parameters: ReadAccountParameters & { readonly ifNoneMatch: string }, options?: CallOptions): Promise<ApiResponse<Account | undefined>>
  /** Read an account: `GET /accounts/{account_id}`. */
  readAccount(parameters?: ReadAccountParameters, options?: CallOptions): Promise<ApiResponse<Account>>
  /** Create an account below this one: `PUT /accounts/{account_id}`. */
  createChildAccount(parameters: CreateChildAccountParameters, options?: CallOptions): Promise<ApiResponse<Account>>
  /** Replace an account: `POST /accounts/{account_id}`. Replaces every field; an omitted realm, time zone, language or state stays. Only a token of an account above changes `enabled`. */
  replaceAccount(parameters: ReplaceAccountParameters, options?: CallOptions): Promise<ApiResponse<Account>>
  /** Change some fields of an account: `PATCH /accounts/{account_id}`. Applies a JSON merge patch (RFC 7396), then validates the whole document; `null` removes a field. */
  patchAccount(parameters: PatchAccountParameters, options?: CallOptions): Promise<ApiResponse<Account>>
  /** Delete an account: `DELETE /accounts/{account_id}`. With a token of an account above. Deletes its users, key, tokens and webhooks, and cancels waiting deliveries; 409 while there are accounts below it. */
  deleteAccount(parameters?: DeleteAccountParameters, options?: CallOptions): Promise<ApiResponse<Account>>
  /** List the accounts directly below an account: `GET /accounts/{account_id}/children`. Sorted by name. `descendants_count` stops at 1,000. */
  listChildren(parameters?: ListChildrenParameters, options?: CallOptions): List<AccountSummary>
  /** List all accounts below an account: `GET /accounts/{account_id}/descendants`. Sorted by name. */
  listDescendants(parameters?: ListDescendantsParameters, options?: CallOptions): List<AccountDescendant>
  /** List the accounts with the same parent, this one included: `GET /accounts/{account_id}/siblings`. Sorted by name. */
  listSiblings(parameters?: ListSiblingsParameters, options?: CallOptions): List<AccountSummary>
  /** List the accounts above an account: `GET /accounts/{account_id}/tree`. From the token's account down to the parent; empty for the token's account. Not paged. */
  listTree(parameters?: ListTreeParameters, options?: CallOptions): Promise<ApiResponse<readonly AccountAncestor[]>>
  /** List the accounts above an account, as `tree`: `GET /accounts/{account_id}/parents`. From the token's account down to the parent; empty for the token's account. Not paged. */
  listParents(parameters?: ListParentsParameters, options?: CallOptions): Promise<ApiResponse<readonly AccountAncestor[]>>
  /** List the accounts above an account, as `tree`: `GET /accounts/{account_id}/ancestors`. From the token's account down to the parent; empty for the token's account. Not paged. */
  listAncestors(parameters?: ListAncestorsParameters, options?: CallOptions): Promise<ApiResponse<readonly AccountAncestor[]>>
  /** Move an account with everything below it: `POST /accounts/{account_id}/move`. For operators only. */
  moveAccount(parameters: MoveAccountParameters, options?: CallOptions): Promise<ApiResponse<Account>>
  /** Erase the records of a call, of a number, or of all calls: `PUT /accounts/{account_id}/erase`. Erases events, deliveries (waiting ones too) and attempts permanently. Operators may name an account that was deleted. A body without any field erases the data of all calls of the account; an unknown field is an error. */
  eraseRecords(parameters: EraseRecordsParameters, options?: CallOptions): Promise<ApiResponse<{
    /** Value of `call_ids`. */
    readonly call_ids?: readonly string[]
    /** Number of rows removed. */
    readonly rows: number
  }>>
  /** List the applications of the account: `GET /accounts/{account_id}/apps_store`. Always empty. */
  listApps(parameters?: ListAppsParameters, options?: CallOptions): Promise<ApiResponse<readonly unknown[]>>
  /** List the users of the account: `GET /accounts/{account_id}/users`. Sorted by last name and first name. */
  listUsers(parameters?: ListUsersParameters, options?: CallOptions): List<UserSummary>
  /** Create a user: `PUT /accounts/{account_id}/users`. */
  createUser(parameters: CreateUserParameters, options?: CallOptions): Promise<ApiResponse<User>>
  /** Read a user: `GET /accounts/{account_id}/users/{user_id}`. `data` is `undefined` with status 304: the revision is still current. */
  readUser(parameters: ReadUserParameters & { readonly ifNoneMatch: string }, options?: CallOptions): Promise<ApiResponse<User | undefined>>
  /** Read a user: `GET /accounts/{account_id}/users/{user_id}`. */
  readUser(parameters: ReadUserParameters, options?: CallOptions): Promise<ApiResponse<User>>
  /** Replace a user: `POST /accounts/{account_id}/users/{user_id}`. Replaces every field. A user without admin rights may replace its own document. */
  replaceUser(parameters: ReplaceUserParameters, options?: CallOptions): Promise<ApiResponse<User>>
  /** Change some fields of a user: `PATCH /accounts/{account_id}/users/{user_id}`. Applies a JSON merge patch (RFC 7396), then validates the whole document; `null` removes a field. A new password invalidates the tokens of the user. */
  patchUser(parameters: PatchUserParameters, options?: CallOptions): Promise<ApiResponse<User>>
  /** Delete a user: `DELETE /accounts/{account_id}/users/{user_id}`. Its tokens are invalid at once. */
  deleteUser(parameters: DeleteUserParameters, options?: CallOptions): Promise<ApiResponse<User>>
  /** Search the accounts below the token's account: `GET /search`. By the beginning of name, realm (letters and digits only, in any case) or id. Sorted by name. */
  search(parameters?: SearchParameters, options?: CallOptions): List<AccountSummary>
  /** Search by several fields: `GET /search/multi`. At most 50 accounts for each field. */
  searchMany(parameters?: SearchManyParameters, options?: CallOptions): Promise<ApiResponse<{
    /** Value of `name`. */
    readonly name?: readonly AccountSummary[]
    /** Value of `realm`. */
    readonly realm?: readonly AccountSummary[]
    /** Value of `id`. */
    readonly id?: readonly AccountSummary[]
  }>>
  /** Search the accounts below an account: `GET /accounts/{account_id}/search`. By the beginning of name, realm (letters and digits only, in any case) or id. Sorted by name. */
  searchAccount(parameters?: SearchAccountParameters, options?: CallOptions): List<AccountSummary>
  /** Read this document: `GET /openapi.json`. */
  readOpenapi(options?: CallOptions): Promise<ApiResponse<{
    /** 3.1.0 */
    readonly openapi: string
  }>>
}

/** How each operation is requested. */
export const ENDPOINTS = {
  signInByApiKey: { method: 'PUT', path: '/api_auth', isOpen: true },
  signInByCredentials: { method: 'PUT', path: '/user_auth', isOpen: true },
  readToken: { method: 'GET', path: '/token_auth', hasNoParameters: true },
  signOut: { method: 'DELETE', path: '/token_auth', hasNoParameters: true },
  readApiKey: { method: 'GET', path: '/accounts/{account_id}/api_key' },
  rotateApiKey: { method: 'PUT', path: '/accounts/{account_id}/api_key' },
  listHooks: { method: 'GET', path: '/webhooks', isOpen: true, isList: true },
  listSamples: { method: 'GET', path: '/webhooks/samples', hasNoParameters: true, isOpen: true },
  readSample: { method: 'GET', path: '/webhooks/samples/{sample_id}', isOpen: true },
  listBindings: { method: 'GET', path: '/websockets', hasNoParameters: true, isOpen: true },
  listWebhooks: { method: 'GET', path: '/accounts/{account_id}/webhooks', isList: true },
  createWebhook: { method: 'PUT', path: '/accounts/{account_id}/webhooks' },
  reenableWebhooks: { method: 'PATCH', path: '/accounts/{account_id}/webhooks' },
  reenableDescendantWebhooks: { method: 'PATCH', path: '/accounts/{account_id}/descendants/webhooks' },
  listAttempts: { method: 'GET', path: '/accounts/{account_id}/webhooks/attempts', isList: true },
  readAccountStats: { method: 'GET', path: '/accounts/{account_id}/webhooks/stats' },
  listEndpoints: { method: 'GET', path: '/accounts/{account_id}/webhooks/health', isList: true },
  readWebhook: { method: 'GET', path: '/accounts/{account_id}/webhooks/{webhook_id}', headers: { ifNoneMatch: 'If-None-Match' } },
  replaceWebhook: { method: 'POST', path: '/accounts/{account_id}/webhooks/{webhook_id}', headers: { ifMatch: 'If-Match' } },
  patchWebhook: { method: 'PATCH', path: '/accounts/{account_id}/webhooks/{webhook_id}', headers: { ifMatch: 'If-Match' } },
  deleteWebhook: { method: 'DELETE', path: '/accounts/{account_id}/webhooks/{webhook_id}', headers: { ifMatch: 'If-Match' } },
  listWebhookAttempts: { method: 'GET', path: '/accounts/{account_id}/webhooks/{webhook_id}/attempts', isList: true },
  readWebhookStats: { method: 'GET', path: '/accounts/{account_id}/webhooks/{webhook_id}/stats' },
  readWebhookHealth: { method: 'GET', path: '/accounts/{account_id}/webhooks/{webhook_id}/health' },
  testWebhook: { method: 'PUT', path: '/accounts/{account_id}/webhooks/{webhook_id}/test' },
  replayWebhook: { method: 'PUT', path: '/accounts/{account_id}/webhooks/{webhook_id}/replay' },
  resumeWebhook: { method: 'PUT', path: '/accounts/{account_id}/webhooks/{webhook_id}/resume' },
  previewWebhook: { method: 'PUT', path: '/accounts/{account_id}/webhooks/preview' },
  checkAddress: { method: 'PUT', path: '/accounts/{account_id}/webhooks/check' },
  listDeliveries: { method: 'GET', path: '/accounts/{account_id}/webhooks/{webhook_id}/deliveries', isList: true },
  readSecret: { method: 'GET', path: '/accounts/{account_id}/webhooks/{webhook_id}/secret' },
  rotateSecret: { method: 'PUT', path: '/accounts/{account_id}/webhooks/{webhook_id}/secret' },
  readDelivery: { method: 'GET', path: '/accounts/{account_id}/deliveries/{delivery_id}' },
  listDeliveryAttempts: { method: 'GET', path: '/accounts/{account_id}/deliveries/{delivery_id}/attempts', isList: true },
  readCall: { method: 'GET', path: '/accounts/{account_id}/calls/{call_id}' },
  listCallAttempts: { method: 'GET', path: '/accounts/{account_id}/calls/{call_id}/attempts', isList: true },
  replayAccount: { method: 'PUT', path: '/accounts/{account_id}/replay' },
  listReplays: { method: 'GET', path: '/accounts/{account_id}/replays', isList: true },
  readReplay: { method: 'GET', path: '/accounts/{account_id}/replays/{replay_id}' },
  setReplay: { method: 'POST', path: '/accounts/{account_id}/replays/{replay_id}' },
  publishEvents: { method: 'PUT', path: '/accounts/{account_id}/events' },
  matchEvent: { method: 'PUT', path: '/accounts/{account_id}/events/match' },
  lookUp: { method: 'GET', path: '/accounts/{account_id}/lookup' },
  why: { method: 'PUT', path: '/accounts/{account_id}/why' },
  issueToken: { method: 'PUT', path: '/system/tokens' },
  readOverview: { method: 'GET', path: '/system/overview', hasNoParameters: true },
  readHolds: { method: 'GET', path: '/system/holds', hasNoParameters: true },
  setHold: { method: 'POST', path: '/system/holds' },
  listJobs: { method: 'GET', path: '/system/jobs', isList: true },
  startJob: { method: 'PUT', path: '/system/jobs' },
  readJob: { method: 'GET', path: '/system/jobs/{job_id}' },
  setJob: { method: 'POST', path: '/system/jobs/{job_id}' },
  listUnhealthyWebhooks: { method: 'GET', path: '/system/endpoints', isList: true },
  searchDeliveries: { method: 'GET', path: '/system/deliveries', isList: true },
  lookUpAnywhere: { method: 'GET', path: '/system/lookup' },
  whyAnywhere: { method: 'PUT', path: '/system/why' },
  replayAllAccounts: { method: 'PUT', path: '/system/replay' },
  listAllReplays: { method: 'GET', path: '/system/replays', isList: true },
  readAnyReplay: { method: 'GET', path: '/system/replays/{replay_id}' },
  setAnyReplay: { method: 'POST', path: '/system/replays/{replay_id}' },
  listAccounts: { method: 'GET', path: '/accounts', isList: true },
  createAccount: { method: 'PUT', path: '/accounts' },
  readAccount: { method: 'GET', path: '/accounts/{account_id}', headers: { ifNoneMatch: 'If-None-Match' } },
  createChildAccount: { method: 'PUT', path: '/accounts/{account_id}' },
  replaceAccount: { method: 'POST', path: '/accounts/{account_id}', headers: { ifMatch: 'If-Match' } },
  patchAccount: { method: 'PATCH', path: '/accounts/{account_id}', headers: { ifMatch: 'If-Match' } },
  deleteAccount: { method: 'DELETE', path: '/accounts/{account_id}', headers: { ifMatch: 'If-Match' } },
  listChildren: { method: 'GET', path: '/accounts/{account_id}/children', isList: true },
  listDescendants: { method: 'GET', path: '/accounts/{account_id}/descendants', isList: true },
  listSiblings: { method: 'GET', path: '/accounts/{account_id}/siblings', isList: true },
  listTree: { method: 'GET', path: '/accounts/{account_id}/tree' },
  listParents: { method: 'GET', path: '/accounts/{account_id}/parents' },
  listAncestors: { method: 'GET', path: '/accounts/{account_id}/ancestors' },
  moveAccount: { method: 'POST', path: '/accounts/{account_id}/move' },
  eraseRecords: { method: 'PUT', path: '/accounts/{account_id}/erase' },
  listApps: { method: 'GET', path: '/accounts/{account_id}/apps_store' },
  listUsers: { method: 'GET', path: '/accounts/{account_id}/users', isList: true },
  createUser: { method: 'PUT', path: '/accounts/{account_id}/users' },
  readUser: { method: 'GET', path: '/accounts/{account_id}/users/{user_id}', headers: { ifNoneMatch: 'If-None-Match' } },
  replaceUser: { method: 'POST', path: '/accounts/{account_id}/users/{user_id}', headers: { ifMatch: 'If-Match' } },
  patchUser: { method: 'PATCH', path: '/accounts/{account_id}/users/{user_id}', headers: { ifMatch: 'If-Match' } },
  deleteUser: { method: 'DELETE', path: '/accounts/{account_id}/users/{user_id}', headers: { ifMatch: 'If-Match' } },
  search: { method: 'GET', path: '/search', isList: true },
  searchMany: { method: 'GET', path: '/search/multi' },
  searchAccount: { method: 'GET', path: '/accounts/{account_id}/search', isList: true },
  readOpenapi: { method: 'GET', path: '/openapi.json', hasNoParameters: true, isOpen: true, isRaw: true },
} as const satisfies Readonly<Record<keyof Operations, Endpoint>>
