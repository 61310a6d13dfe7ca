/** The requests of the page: what each is for, and what it sends. */

const GREGORIAN_EPOCH = 62_167_219_200
const HOUR = 3_600
const DAY = 24 * HOUR

/** @param {number} secondsAgo */
const ago = (secondsAgo) => Math.floor(Date.now() / 1000) + GREGORIAN_EPOCH - secondsAgo

const range = (step, seconds) => `step=${step}&created_from=${ago(seconds)}&created_to=${ago(0)}`

/**
 * @typedef {{ name: string, path: string, method?: 'PUT', data?: object }} PageRequest `path`: below the version
 *
 * @param {{ accountId: string, busyId: string, failingId: string, deliveryId: string, callId: string }} ids
 * @param {string} secondPage `start_key` of the second page of the list
 * @returns {readonly PageRequest[]}
 */
export function pageRequests({ accountId, busyId, failingId, deliveryId, callId }, secondPage) {
  const account = `/accounts/${accountId}`
  const webhooks = `${account}/webhooks`
  const health = (name, query) => ({
    name: `list, ${name}`,
    path: `${webhooks}/health?page_size=100${query}`,
  })
  const attempts = (name, id, query) => ({
    name: `attempts, ${name}`,
    path: `${webhooks}/${id}/attempts?slim=true&page_size=100${query}`,
  })
  const deliveries = (state) => ({
    name: `deliveries, ${state}`,
    path: `${webhooks}/${busyId}/deliveries?page_size=100&filter_state=${state}`,
  })
  const stats = (name, query) => ({
    name: `statistics, ${name}`,
    path: `${webhooks}/${busyId}/stats?${query}`,
  })
  const count = (name, id, data) => ({
    name: `count before a replay, ${name}`,
    path: `${webhooks}/${id}/replay`,
    method: 'PUT',
    data: { dry_run: true, ...data },
  })
  const call = encodeURIComponent(callId)
  return [
    health('first page', ''),
    health('second page', `&start_key=${secondPage}`),
    ...['failing', 'paused', 'disabled', 'ok', 'idle'].map((state) => health(state, `&state=${state}`)),
    health('search with many matches', '&q=hooks-'),
    health('search with one match', '&q=hooks-9876.example'),
    health('search without a match', '&q=nothing-like-it'),
    health('failing, with a search', '&state=failing&q=hooks-9'),
    { name: 'webhooks as summaries', path: `${webhooks}?page_size=1000` },
    { name: 'webhook', path: `${webhooks}/${busyId}` },
    { name: 'health of the busiest webhook', path: `${webhooks}/${busyId}/health` },
    { name: 'health of a failing webhook', path: `${webhooks}/${failingId}/health` },
    stats('1 h', range(60, HOUR)),
    stats('24 h', range(3600, DAY)),
    stats('7 d', range(3600, 7 * DAY)),
    stats('30 d', range(3600, 30 * DAY)),
    { name: 'statistics of the account, 24 h', path: `${webhooks}/stats?${range(3600, DAY)}` },
    attempts('busiest webhook', busyId, ''),
    attempts('failures', busyId, '&filter_result=failure'),
    attempts('successes', busyId, '&filter_result=success'),
    attempts('status 503', busyId, '&filter_resp_status_code=503'),
    attempts('a status that nobody sent', busyId, '&filter_resp_status_code=418'),
    attempts('kind of event', busyId, '&filter_hook_event=channel_answer'),
    attempts('a kind that nobody sent', busyId, '&filter_hook_event=channel_destroy'),
    attempts('last hour', busyId, `&created_from=${ago(HOUR)}&created_to=${ago(0)}`),
    attempts('yesterday', busyId, `&created_from=${ago(2 * DAY)}&created_to=${ago(DAY)}`),
    attempts('failing webhook', failingId, '&filter_result=failure'),
    { name: 'attempts of the account', path: `${webhooks}/attempts?slim=true&page_size=100` },
    ...['waiting', 'in_flight', 'delivered', 'exhausted', 'expired', 'cancelled'].map(deliveries),
    { name: 'delivery', path: `${account}/deliveries/${deliveryId}` },
    { name: 'attempts of a delivery', path: `${account}/deliveries/${deliveryId}/attempts` },
    { name: 'call', path: `${account}/calls/${call}` },
    { name: 'attempts of a call', path: `${account}/calls/${call}/attempts?page_size=1000` },
    { name: 'search for an unknown id', path: `${account}/lookup?q=nobody` },
    { name: 'search for a delivery', path: `${account}/lookup?q=${deliveryId}` },
    count('failing webhook', failingId, { result: 'failure' }),
    count('failures of the busiest webhook', busyId, { result: 'failure' }),
    count('successes of the busiest webhook', busyId, { result: 'success' }),
    { name: 'accounts', path: `${account}/descendants?page_size=1000` },
    {
      name: 'match of an event',
      path: `${account}/events/match`,
      method: 'PUT',
      data: { hook: 'channel_answer' },
    },
    { name: 'overview', path: '/system/overview' },
    { name: 'endpoints of the service', path: '/system/endpoints?page_size=100' },
    { name: 'endpoints of the service, disabled', path: '/system/endpoints?page_size=100&state=disabled' },
    { name: 'endpoints of the service, by impact', path: '/system/endpoints?page_size=100&sort=impact' },
    { name: 'search of the service for a delivery', path: `/system/lookup?q=${deliveryId}` },
    { name: 'search of the service for a call', path: `/system/lookup?q=${call}` },
    { name: 'search of the service for a name', path: '/system/lookup?q=a' },
  ]
}
