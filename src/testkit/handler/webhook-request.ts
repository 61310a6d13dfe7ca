import type { SendRequest } from 'hookswitch/adapter'

/** One request of hookswitch, as a handler receives it. */
export interface WebhookRequest {
  /** HTTP method, in upper case. */
  readonly method: SendRequest['method']
  /** Absolute URL; with GET and DELETE its query has the fields of the event. */
  readonly url: string
  /** Values by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** Flat: name, value, … with names spelt as sent. */
  readonly rawHeaders: readonly string[]
  /** The signed bytes; '' with GET and DELETE. */
  readonly body: string
}

/** Converts a request of the sender port into the receiver's view of it. */
export function toWebhookRequest({ method, url, headers, body = '' }: SendRequest): WebhookRequest {
  const byName: Record<string, string> = {}
  for (let index = 0; index < headers.length; index += 2) {
    byName[headers[index]!.toLowerCase()] = headers[index + 1]!
  }
  return { method, url, headers: byName, rawHeaders: headers, body }
}
