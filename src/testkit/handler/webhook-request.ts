import type { SendRequest } from '../../ports.js'

/** One request of hookswitch, as a receiver gets it. */
export interface WebhookRequest {
  readonly method: SendRequest['method']
  /** Absolute; with GET and DELETE the pairs of the event are in its query. */
  readonly url: string
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** Flat: name, value, … spelt as they are sent. */
  readonly rawHeaders: readonly string[]
  /** Byte for byte what is signed: '' with GET and DELETE. */
  readonly body: string
}

/** What goes through the door to receivers, seen from the other side. */
export function asReceived({ method, url, headers, body = '' }: SendRequest): WebhookRequest {
  const byName: Record<string, string> = {}
  for (let at = 0; at < headers.length; at += 2) byName[headers[at]!.toLowerCase()] = headers[at + 1]!
  return { method, url, headers: byName, rawHeaders: headers, body }
}
