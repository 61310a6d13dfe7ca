import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { METRICS } from 'hookswitch/adapter'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SITUATIONS } from '../alerts/situations.js'
import { anchors, codes, table } from '../examples/pages.js'
import { hasProgram, read, readYaml, readYamlDocuments, run } from './files.js'

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly runbook_url: string }
}
interface Rules {
  readonly groups: readonly { readonly interval: string; readonly rules: readonly Rule[] }[]
}
interface ScrapeConfig {
  readonly global: { readonly scrape_interval: string; readonly evaluation_interval: string }
  readonly rule_files: readonly string[]
  readonly scrape_configs: readonly { readonly job_name: string }[]
}

const RULES = 'prometheus/rules.yaml'
const PROMETHEUS = 'prometheus/prometheus.yaml'
const DASHBOARD = 'grafana/hookswitch.json'
const RUNBOOK = 'docs/operate/runbook.md'
const TESTED = '../test/deploy/rules.test.yaml'
const hasPromtool = hasProgram('promtool')
const rulesOf = ({ groups }: Rules) => groups.flatMap(({ rules }) => rules)

interface PodMonitor {
  readonly jobLabel: string
  readonly selector: { readonly matchLabels: object }
  readonly podMetricsEndpoints: readonly { readonly port: string }[]
}
interface PodTemplate {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> }
  readonly spec: {
    readonly containers: readonly { readonly ports: readonly { readonly name: string }[] }[]
  }
}

/** Every metric that a query names, with the labels that it compares. */
function metricsIn(query: string) {
  return [...query.matchAll(/\b(hookswitch_\w+)(?:\{([^}]*)\})?/g)].map(([, name, selector = '']) => ({
    name: name!.replace(/_(bucket|sum|count)$/, ''),
    labels: [...selector.matchAll(/(\w+)(?:=|!=|=~|!~)"([^"]*)"/g)].flatMap(([, label, value]) =>
      value!.split('|').map((choice) => ({ label: label!, value: choice })),
    ),
  }))
}

type Metric = { readonly label?: string; readonly values?: readonly string[] } | undefined

/** Why a query cannot find anything; empty: it can. */
function problemsOf(query: string): string[] {
  const groupings = [...query.matchAll(/\bby \(([\w, ]+)\)/g)].flatMap(([, labels]) => labels!.split(', '))
  return metricsIn(query).flatMap(({ name, labels }) => {
    const metric = METRICS[name as keyof typeof METRICS] as Metric
    if (!metric) return [`${name} is no metric`]
    const unknown = groupings.find((label) => label !== metric.label && !['le', 'instance'].includes(label))
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

  it('lead to their section of the runbook, which says of each how to look and how to end it', () => {
    const sections = anchors(RUNBOOK)
    const rows = table(RUNBOOK, '\n## Alerts\n').map(([alert = '', ...cells]) => {
      expect([alert, cells.length, cells.includes('')]).toEqual([alert, 3, false])
      // The command with which to look.
      expect(cells[1]).toMatch(/`.+`/)
      return [codes(alert)[0], /\(#(.+)\)$/.exec(alert)?.[1]]
    })
    const url = 'https://github.com/hookswitch/hookswitch/blob/main/docs/operate/runbook.md#'
    expect(rows).toEqual(
      rules.map(({ alert, annotations }) => [alert, annotations.runbook_url.replace(url, '')]),
    )
    for (const [alert, anchor] of rows) expect([alert, sections.has(anchor!)]).toEqual([alert, true])
  })

  it('are each expected by a situation that makes them fire', () => {
    const expected = new Set(SITUATIONS.flatMap((situation) => situation.expected))
    expect(
      rules.map(({ alert }) => alert.replace('Hookswitch', '')).filter((name) => !expected.has(name)),
    ).toEqual([])
    expect(SITUATIONS.some((situation) => situation.expected.length === 0)).toBe(true)
  })

  it('notice within a minute what somebody must act on now', () => {
    const [group] = (readYaml(RULES) as Rules).groups
    const seconds = (duration: string) => {
      const [, count, unit] = /^(\d+)([sm])$/.exec(duration)!
      return Number(count) * (unit === 'm' ? 60 : 1)
    }
    const { global } = readYaml(PROMETHEUS) as ScrapeConfig
    const delay = seconds(global.scrape_interval) + 2 * seconds(group!.interval)
    for (const rule of rules) {
      expect(['page', 'ticket']).toContain(rule.labels.severity)
      if (rule.labels.severity === 'page')
        expect([rule.alert, delay + seconds(rule.for ?? '0s') <= 60]).toEqual([rule.alert, true])
    }
  })

  it('ask for the job that the scrape configurations name', () => {
    const jobs = new Set(
      rules.flatMap(({ expr }) => [...expr.matchAll(/job="(\w+)"/g)].map(([, job]) => job)),
    )
    expect([...jobs]).toEqual(['hookswitch'])
    for (const file of [PROMETHEUS, 'docker/prometheus.yaml']) {
      const { scrape_configs, rule_files, global } = readYaml(file) as ScrapeConfig
      expect(scrape_configs.map(({ job_name }) => job_name)).toEqual(['hookswitch'])
      expect(rule_files).toEqual(['rules.yaml'])
      expect(global).toEqual((readYaml(PROMETHEUS) as ScrapeConfig).global)
    }
    // The Prometheus Operator names the job after a label of the pod.
    const { spec } = readYaml('kubernetes/podmonitor.yaml') as { spec: PodMonitor }
    const [deployment] = readYamlDocuments('kubernetes/hookswitch.yaml') as readonly {
      spec: { template: PodTemplate }
    }[]
    const { metadata, spec: pod } = deployment!.spec.template
    expect(metadata.labels[spec.jobLabel]).toBe('hookswitch')
    expect(metadata.labels).toEqual(spec.selector.matchLabels)
    const ports = pod.containers[0]!.ports.map(({ name }) => name)
    for (const { port } of spec.podMetricsEndpoints) expect(ports).toContain(port)
  })

  it.skipIf(!hasPromtool)('are valid, and fire on what they are for', () => {
    expect(run('promtool', ['check', 'rules', RULES])).toMatch(/SUCCESS: \d+ rules found/)
    expect(run('promtool', ['check', 'config', PROMETHEUS])).toMatch(/SUCCESS/)
    expect(run('promtool', ['test', 'rules', TESTED])).toMatch(/SUCCESS/)
    const tested = read(TESTED)
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
