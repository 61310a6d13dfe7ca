import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { METRICS } from 'hookswitch/adapter'
import { describe, expect, it, onTestFinished } from 'vitest'
import { blocks } from '../examples/pages.js'
import { hasProgram, read, readYaml, run } from './files.js'

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string; readonly for?: string }[]
  }[]
}

const RULES = 'prometheus/rules.yaml'
const DASHBOARD = 'grafana/hookswitch.json'
const hasPromtool = hasProgram('promtool')
const rulesOf = ({ groups }: Rules) => groups.flatMap(({ rules }) => rules)

/** Every metric that a query names, with the labels that it compares. */
function metricsIn(query: string) {
  return [...query.matchAll(/\b(hookswitch_\w+)(?:\{([^}]*)\})?/g)].map(([, name, selector = '']) => ({
    name: name!.replace(/_(bucket|sum|count)$/, ''),
    labels: [...selector.matchAll(/(\w+)=~?"([^"]*)"/g)].map(([, label, value]) => ({
      label: label!,
      value: value!,
    })),
  }))
}

type Metric = { readonly label?: string; readonly values?: readonly string[] } | undefined

/** Why a query cannot find anything; empty: it can. */
function problemsOf(query: string): string[] {
  const groupings = [...query.matchAll(/\bby \((\w+)\)/g)].map(([, label]) => label!)
  return metricsIn(query).flatMap(({ name, labels }) => {
    const metric = METRICS[name as keyof typeof METRICS] as Metric
    if (!metric) return [`${name} is no metric`]
    const unknown = groupings.find((label) => label !== metric.label && label !== 'le')
    if (unknown !== undefined) return [`${name} has no label ${unknown}`]
    return labels
      .filter(({ label }) => !['job', 'instance'].includes(label))
      .flatMap(({ label, value }) => {
        if (label !== metric.label) return [`${name} has no label ${label}`]
        return metric.values && !metric.values.includes(value) ? [`${name} has no ${label} ${value}`] : []
      })
  })
}

describe('the alert rules', () => {
  const rules = rulesOf(readYaml(RULES))

  it('query metrics that exist', () => {
    expect(rules.flatMap(({ expr }) => problemsOf(expr))).toEqual([])
    expect(problemsOf('rate(hookswitch_nothing_total[5m])')).toEqual([
      'hookswitch_nothing_total is no metric',
    ])
    expect(problemsOf('hookswitch_endpoints_paused{state="ajar"}')).toEqual([
      'hookswitch_endpoints_paused has no state ajar',
    ])
  })

  it('are those that the documents explain', () => {
    const [block] = blocks('docs/operate/metrics-and-alerts.md', 'yaml')
    expect(block).toBeDefined()
    const names = [...block!.matchAll(/alert: (\w+)\n\s+expr: (.*)/g)].map(([, alert, expr]) => ({
      alert,
      expr,
    }))
    expect(names).toEqual(rules.map(({ alert, expr }) => ({ alert, expr })))
  })

  it.skipIf(!hasPromtool)('are valid, and fire on what they are for', () => {
    expect(run('promtool', ['check', 'rules', RULES])).toMatch(/SUCCESS: \d+ rules found/)
    expect(run('promtool', ['test', 'rules', 'prometheus/rules.test.yaml'])).toMatch(/SUCCESS/)
    const tested = read('prometheus/rules.test.yaml')
    for (const { alert } of rules)
      expect(tested.split(`alertname: ${alert}`).length, alert).toBeGreaterThan(2)
  })
})

describe('the dashboard', () => {
  interface Panel {
    readonly id: number
    readonly type: string
    readonly title: string
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
    readonly targets?: readonly { readonly expr: string }[]
  }
  const { panels } = JSON.parse(read(DASHBOARD)) as { panels: readonly Panel[] }
  const charts = panels.filter(({ type }) => type !== 'row')
  const queries = charts.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

  it('queries metrics that exist', () => {
    expect(queries.length).toBeGreaterThan(15)
    expect(queries.flatMap(problemsOf)).toEqual([])
  })

  it('shows every metric but look-ups of tokens', () => {
    const shown = new Set(queries.flatMap((query) => metricsIn(query).map(({ name }) => name)))
    const missing = Object.keys(METRICS).filter((name) => !shown.has(name))
    expect(missing.sort()).toEqual([
      'hookswitch_deliveries_accepted_total',
      'hookswitch_source_events_held',
      'hookswitch_source_reconnects_total',
      'hookswitch_token_lookups_total',
    ])
  })

  it('has panels that do not overlap, with a query and a title each', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    for (const { title, targets } of charts) expect([title, targets?.length]).not.toEqual(['', 0])
    const overlapping = panels.filter((panel) =>
      panels.some(
        (other) =>
          other !== panel &&
          panel.gridPos.x < other.gridPos.x + other.gridPos.w &&
          other.gridPos.x < panel.gridPos.x + panel.gridPos.w &&
          panel.gridPos.y < other.gridPos.y + other.gridPos.h &&
          other.gridPos.y < panel.gridPos.y + panel.gridPos.h,
      ),
    )
    expect(overlapping.map(({ title }) => title)).toEqual([])
  })

  it.skipIf(!hasPromtool)('has queries that Prometheus can parse', async () => {
    const rules = queries.map((query, index) => ({
      record: `query_${index}`,
      expr: query.replaceAll('$__rate_interval', '5m').replaceAll('$job', '.*'),
    }))
    const folder = await mkdtemp(join(tmpdir(), 'dashboard-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = join(folder, 'queries.yaml')
    await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
    expect(run('promtool', ['check', 'rules', file])).toContain(`SUCCESS: ${queries.length} rules found`)
  })
})
