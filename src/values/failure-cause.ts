/** Why a request got no usable answer: a closed list, which records, `explain`, log lines and metrics share. */

/** What each cause of a failure means, in one sentence for the owner of a webhook. Causes may be added. */
export const FAILURE_CAUSES = Object.freeze({
  refused: 'The server refused the connection.',
  reset: 'The server ended the connection with a reset.',
  unreachable: 'No route leads to the address of the server.',
  closed_early: 'The server closed the connection before it had answered.',
  timeout_name: 'The name of the server was not resolved in time.',
  timeout_connect: 'The server did not accept the connection in time.',
  timeout_tls: 'The TLS handshake was not finished in time.',
  timeout_answer: 'The server did not answer in time.',
  name_unknown: 'The name of the server does not exist, or has no address.',
  name_server: 'The name server did not answer, or failed.',
  certificate_expired: 'The certificate of the server has expired.',
  certificate_not_yet_valid: 'The certificate of the server is not valid yet.',
  certificate_self_signed: 'The certificate of the server is self-signed.',
  certificate_name: 'The certificate of the server is for another name.',
  certificate_issuer:
    "The issuer of the server's certificate is unknown, or the server does not send its intermediate certificates.",
  certificate_invalid: 'The certificate of the server is not valid.',
  certificate_required: 'The server demands a certificate of its client.',
  tls_version: 'The server and this service have no TLS version or cipher in common.',
  tls_failed: 'The TLS handshake failed.',
  not_tls: 'What the server sent is not TLS: it may expect http.',
  not_http: 'What the server sent is not HTTP.',
  head_too_large: 'The head of the answer is too large.',
  request_invalid: 'The request cannot be sent: one of its headers is not valid.',
  proxy_failed: 'The outgoing proxy did not connect to the server.',
  blocked_address: 'The address of the server is one to which nothing may be sent.',
  connection_failed: 'The connection failed.',
} satisfies Record<string, string>)

/** A cause of a failure. */
export type FailureCause = keyof typeof FAILURE_CAUSES

/** Whether a value, such as one from a sender of the host, is a cause. */
export function isFailureCause(value: unknown): value is FailureCause {
  return typeof value === 'string' && Object.hasOwn(FAILURE_CAUSES, value)
}

/** The sentence of a cause, with what was observed in parentheses. Without a cause, the observation alone. */
export function failureSentence(cause: FailureCause | undefined, observed: string): string {
  if (cause === undefined) return observed
  const sentence = FAILURE_CAUSES[cause]
  return observed === '' ? sentence : `${sentence.slice(0, -1)} (${observed}).`
}
