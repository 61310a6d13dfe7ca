/**
 * Validates the custom request headers of a webhook. The HTTP client would accept names that change where a request
 * goes or how it is framed, so the allowed names are decided here.
 */

/** Maximum size of all names and values together, in bytes. */
export const MAX_HEADER_BYTES = 4096

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const VALUE = /^[\t\x20-\x7e]*$/

/**
 * Names that no webhook may have, with the reason; `*` stands for any rest. Receivers, and servers inside of the network that
 * a webhook may reach, trust a proxy about the sender and the target of a request: with these headers a customer's webhook
 * would pose as a proxy.
 *
 * @internal
 */
export const FORBIDDEN_HEADERS: readonly { readonly reason: string; readonly names: readonly string[] }[] = [
  {
    // RFC 9110, section 7.6.1. `Proxy` sets the proxy of CGI programs (CVE-2016-5385).
    reason: 'it concerns the connection or the form of the body',
    names: [
      ...[
        'accept-encoding',
        'connection',
        'content-*',
        'early-data',
        'expect',
        'http2-settings',
        'keep-alive',
      ],
      ...['proxy', 'proxy-*', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
    ],
  },
  {
    reason: 'hookswitch sets it',
    names: ['webhook-*', 'x-account-id', 'x-hook-*'],
  },
  {
    reason: 'it says where a request goes or what it does',
    names: [
      ...['alt-used', 'host', 'x-host', 'x-http-host-override', 'x-http-method', 'x-http-method-override'],
      // Next.js skips its middleware for a request with the last one (CVE-2025-29927).
      ...['x-method-override', 'x-original-*', 'x-override-url', 'x-rewrite-url', 'x-middleware-*'],
    ],
  },
  {
    reason: 'it says where a request comes from',
    names: [
      ...[
        'cdn-loop',
        'forwarded',
        'forwarded-*',
        'via',
        'x-envoy-*',
        'x-forwarded',
        'x-forwarded-*',
        'x-forwarder-for',
      ],
      ...['client-ip', 'fastly-client-ip', 'fly-client-ip', 'remote-addr', 'true-client-ip', 'x-client-ip'],
      ...[
        'x-cluster-client-ip',
        'x-nf-client-connection-ip',
        'x-originating-ip',
        'x-proxyuser-ip',
        'x-real-ip',
      ],
      ...[
        'x-remote-addr',
        'x-remote-ip',
        'x-vercel-*',
        'wl-proxy-*',
        'cf-connecting-*',
        'cf-ipcountry',
        'cf-pseudo-ipv4',
      ],
      ...[
        'cf-ray',
        'cf-visitor',
        'cf-worker',
        'x-appengine-*',
        'x-arr-*',
        'x-azure-clientip',
        'x-azure-socketip',
      ],
      // Browsers alone set them, and servers trust them against forged requests.
      'sec-*',
    ],
  },
  {
    reason: 'it says who sends a request, in the name of a proxy',
    names: [
      ...[
        'remote-user',
        'remote-name',
        'remote-email',
        'remote-groups',
        'x-remote-user',
        'x-remote-group',
        'x-remote-extra-*',
        'x-auth-user',
        'x-authenticated-*',
        'x-authentik-*',
        'x-consumer-*',
        'x-jwt-assertion',
        'x-pomerium-*',
        'x-teleport-*',
      ],
      ...['impersonate-*', 'x-auth-request-*', 'x-webauth-*', 'tailscale-user-*', 'x-amzn-oidc-*'],
      ...[
        'x-ms-client-principal',
        'x-ms-client-principal-*',
        'x-ms-token-*',
        'x-goog-authenticated-user-*',
        'x-goog-iap-*',
      ],
      ...['cf-access-authenticated-user-email', 'cf-access-jwt-assertion', 'x-client-cert', 'x-client-dn'],
      ...['x-ssl-*', 'ssl-client-*', 'x-client-verify'],
    ],
  },
  {
    // Each cloud asks for its own, so that a request that was only redirected there is refused.
    reason: 'it opens the metadata service of a cloud',
    names: [
      'metadata',
      'metadata-*',
      'x-aliyun-ecs-metadata-*',
      'x-aws-*',
      'x-google-metadata-request',
      'x-identity-header',
    ],
  },
]

const reasonOfName = new Map<string, string>()
const reasonOfPrefix: (readonly [prefix: string, reason: string])[] = []
for (const { reason, names } of FORBIDDEN_HEADERS) {
  for (const name of names) {
    if (name.endsWith('*')) reasonOfPrefix.push([name.slice(0, -1), reason])
    else reasonOfName.set(name, reason)
  }
}

/** Why a header is not allowed; `undefined` when it is. */
export function findHeaderProblem(name: string, value: string): string | undefined {
  if (!TOKEN.test(name)) return 'not a header name'
  // CGI and what is built after it do not distinguish `X_Real_IP` from `X-Real-IP`.
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '-')
  const reason = reasonOfName.get(plain) ?? reasonOfPrefix.find(([prefix]) => plain.startsWith(prefix))?.[1]
  if (reason !== undefined) return `this header may not be set: ${reason}`
  if (!VALUE.test(value)) return 'header values may contain printable ASCII characters and tabs only'
  return undefined
}

/** The names that repeat an earlier one, compared case-insensitively as HTTP does. */
export function findRepeatedNames(names: readonly string[]): readonly string[] {
  const seen = new Set<string>()
  return names.filter((name) => {
    const lower = name.toLowerCase()
    const isRepeated = seen.has(lower)
    seen.add(lower)
    return isRepeated
  })
}
