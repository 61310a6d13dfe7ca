import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { Service } from 'kubernetes-models/v1/Service'
import { describe, expect, it } from 'vitest'
import { adminServer } from '../../adapters/cli/admin.js'
import { listen, stopListening } from '../../adapters/cli/listen.js'
import { readSettings } from '../../adapters/cli/read-settings.js'
import { readYamlDocuments } from './files.js'

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
}
interface Container {
  readonly args: readonly string[]
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly startupProbe: Probe
  readonly readinessProbe: Probe
  readonly livenessProbe: Probe
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } }
  readonly envFrom: readonly { readonly secretRef: { readonly name: string } }[]
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
}
interface PodSpec {
  readonly terminationGracePeriodSeconds: number
  readonly securityContext: { readonly runAsNonRoot: boolean; readonly runAsUser: number }
  readonly containers: readonly Container[]
  readonly volumes: readonly { readonly name: string }[]
}
interface Labelled {
  readonly metadata: { readonly labels: object; readonly annotations?: Readonly<Record<string, string>> }
}

const [deployment, service, budget] = readYamlDocuments('kubernetes/hookswitch.yaml') as unknown as [
  {
    readonly spec: {
      readonly selector: { readonly matchLabels: object }
      readonly template: Labelled & { readonly spec: PodSpec }
    }
  },
  {
    readonly spec: { readonly selector: object; readonly ports: readonly { readonly targetPort: string }[] }
  },
  { readonly spec: { readonly selector: { readonly matchLabels: object } } },
]
const pod = deployment.spec.template.spec
const [container] = pod.containers as [Container]
const { values: flags } = await readSettings(container.args.slice(1), {})

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** Every path in a manifest with a copy in which the value there has a type that no field of the API has. */
function* withWrongTypes(value: Json, path = ''): Generator<{ readonly path: string; readonly copy: Json }> {
  if (path !== '') yield { path: path.slice(1), copy: [[[]]] }
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    for (const { path: at, copy } of withWrongTypes(inner as Json, `${path}.${key}`)) {
      yield {
        path: at,
        copy: Array.isArray(value) ? value.with(Number(key), copy) : { ...value, [key]: copy },
      }
    }
  }
}

/** The API ignores keys that it does not know: those whose value may have any type. */
function unknownKeys(Model: new (data: never) => { validate(): void }, manifest: unknown): string[] {
  return [...withWrongTypes(manifest as Json)].flatMap(({ path, copy }) => {
    try {
      new Model(copy as never).validate()
      return [path]
    } catch {
      return []
    }
  })
}

describe('the Kubernetes manifests', () => {
  const models = [
    [Deployment, deployment],
    [Service, service],
    [PodDisruptionBudget, budget],
  ] as const

  it.each(models)('%o is valid for the API', (Model, manifest) => {
    expect(() => new Model(manifest as never).validate()).not.toThrow()
    expect(unknownKeys(Model, manifest)).toEqual([])
  })

  it('would not be valid with a misspelled key', () => {
    const [first] = container.ports
    const misspelled = { ...container, livenesProbe: {}, ports: [{ ...first, hostport: 1 }] }
    const spec = { ...pod, containers: [misspelled] }
    const template = { ...deployment.spec.template, spec }
    const wrong = { ...deployment, spec: { ...deployment.spec, template } }
    expect(unknownKeys(Deployment, wrong).sort()).toEqual([
      'spec.template.spec.containers.0.livenesProbe',
      'spec.template.spec.containers.0.ports.0.hostport',
    ])
  })

  it('select the pods of the deployment', () => {
    const { labels } = deployment.spec.template.metadata
    expect(deployment.spec.selector.matchLabels).toEqual(labels)
    expect(service.spec.selector).toEqual(labels)
    expect(budget.spec.selector.matchLabels).toEqual(labels)
  })

  it('start the program with flags that fit the ports, the probes and the mounted files', () => {
    expect(container.args[0]).toBe('serve')
    const ports = Object.fromEntries(container.ports.map(({ name, containerPort }) => [name, containerPort]))
    expect(ports).toEqual({ http: flags.port, admin: flags.adminPort })
    expect([flags.host, flags.adminHost]).toEqual(['0.0.0.0', '0.0.0.0'])
    expect(service.spec.ports.map(({ targetPort }) => targetPort)).toEqual(['http'])
    expect(deployment.spec.template.metadata.annotations!['prometheus.io/port']).toBe(String(flags.adminPort))
    const [mount] = container.volumeMounts
    expect(flags.accounts?.startsWith(`${mount!.mountPath}/`)).toBe(true)
    expect(pod.volumes.map(({ name }) => name)).toEqual([mount!.name])
    // The database and the secret come from the environment: no flag shows them.
    expect(container.args.join(' ')).not.toMatch(/--postgres|secret/i)
    expect(container.envFrom).toEqual([{ secretRef: { name: 'hookswitch' } }])
  })

  it('probe paths that the program answers', async () => {
    let isServing = false
    const metrics = { text: async () => '', contentType: 'text/plain' }
    const server = adminServer(
      async () => ({ isServing, health: { problems: [], outages: [] }, sources: [] }),
      metrics,
    )
    const url = await listen(server, 0, '127.0.0.1', { port: '--admin-port', host: '--admin-host' })
    try {
      const status = async ({ httpGet: { path, port } }: Probe) => {
        expect(port).toBe('admin')
        return (await fetch(url + path)).status
      }
      const { startupProbe, readinessProbe, livenessProbe } = container
      const all = () => Promise.all([startupProbe, readinessProbe, livenessProbe].map(status))
      expect(await all()).toEqual([503, 503, 200])
      isServing = true
      expect(await all()).toEqual([200, 200, 200])
    } finally {
      await stopListening(server, 0)
    }
  })

  it('leave the time that draining takes, and run as an ordinary user', () => {
    const [command, seconds] = container.lifecycle.preStop.exec.command
    expect(command).toBe('sleep')
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(Number(seconds) + 7 + 5)
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 })
  })
})
