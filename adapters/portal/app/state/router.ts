/** The current screen, from the address. */
import { signal } from '@preact/signals'
import { formatRoute, parseRoute, type Route } from '../text/routes.js'

export const route = signal<Route>(parseRoute(location.hash))

addEventListener('hashchange', () => {
  route.value = parseRoute(location.hash)
})

export function navigate(to: Parameters<typeof formatRoute>[0]): void {
  location.hash = formatRoute(to)
}

/** Changes fields of the query without a new entry in the history: for filters. An empty text removes a field. */
export function changeQuery(changes: Readonly<Record<string, string>>): void {
  const current = route.peek()
  history.replaceState(null, '', formatRoute({ ...current, query: { ...current.query, ...changes } }))
  route.value = parseRoute(location.hash)
}
