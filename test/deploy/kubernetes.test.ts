import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { Service } from 'kubernetes-models/v1/Service'
import { describe, expect, it, onTestFinished } from 'vitest'
import { adminServer } from '../../adapters/cli/admin.js'
import { listen, stopListening } from '../../adapters/cli/listen.js'
import { readSettings } from '../../adapters/cli/read-settings.js'
import { hookswitch, ready } from '../adapters/cli/program.js'
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
  readonly enableServiceLinks: boolean
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
    readonly metadata: { readonly name: string }
    readonly spec: {
      readonly selector: object
      readonly ports: readonly {
        readonly name: string
        readonly port: number
        readonly targetPort: string
      }[]
    }
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

const isOurs = (variable: string) => variable.startsWith('HOOKSWITCH_')

/** The variables of each pod with service links in the namespace of the Service (kubelet `envvars.FromServices`). */
function kubeletVariables(name: string): Record<string, string> {
  const prefix = name.replaceAll('-', '_').toUpperCase()
  const ip = '10.96.0.17'
  const [first] = service.spec.ports
  const ofPorts = service.spec.ports.flatMap(({ name: portName, port }) => [
    [`${prefix}_SERVICE_PORT_${portName.replaceAll('-', '_').toUpperCase()}`, `${port}`],
    [`${prefix}_PORT_${port}_TCP`, `tcp://${ip}:${port}`],
    [`${prefix}_PORT_${port}_TCP_PROTO`, 'tcp'],
    [`${prefix}_PORT_${port}_TCP_PORT`, `${port}`],
    [`${prefix}_PORT_${port}_TCP_ADDR`, ip],
  ])
  return {
    [`${prefix}_SERVICE_HOST`]: ip,
    [`${prefix}_SERVICE_PORT`]: `${first!.port}`,
    [`${prefix}_PORT`]: `tcp://${ip}:${first!.port}`,
    ...Object.fromEntries(ofPorts),
  }
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
    const readiness = async () => ({ isServing, health: { problems: [], outages: [] }, sources: [] })
    const server = adminServer(
      readiness,
      metrics,
      () => Promise.reject(new Error('not called')),
      () => {},
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

  it('set no variable that the program would take for a setting', () => {
    expect(pod.enableServiceLinks).toBe(false)
    expect(Object.keys(kubeletVariables(service.metadata.name)).filter(isOurs)).toEqual([])
    expect(flags.operators).toEqual(['platform'])
    expect(flags.trustProxy).toEqual(['10.0.0.0/8'])
  })

  it.each(['hookswitch', 'hookswitch-admin'])(
    'start even with the variables that the kubelet sets for a Service named %s, which one line names',
    async (name) => {
      const variables = kubeletVariables(name)
      const folder = await mkdtemp(join(tmpdir(), 'kubelet-'))
      onTestFinished(() => rm(folder, { recursive: true }))
      const accounts = join(folder, 'accounts.json')
      await writeFile(accounts, JSON.stringify([{ id: 'platform', name: 'P', realm: 'platform.example' }]))
      const argv = [...container.args]
      argv[argv.indexOf('--host') + 1] = '127.0.0.1'
      argv[argv.indexOf('--admin-host') + 1] = '127.0.0.1'
      argv[argv.indexOf('--port') + 1] = '0'
      argv[argv.indexOf('--admin-port') + 1] = '0'
      argv[argv.indexOf('--accounts') + 1] = accounts
      const program = hookswitch([...argv, '--memory'], { env: variables, cwd: folder })
      const { adminUrl } = await ready(program)
      expect((await fetch(`${adminUrl}/readyz`)).status).toBe(200)
      const lines = program.output.stderr.split('\n').filter((line) => line.includes('Kubernetes'))
      expect(lines.map((line) => JSON.parse(line).variables.sort())).toEqual([Object.keys(variables).sort()])
      program.child.kill('SIGTERM')
      expect(await program.ended).toMatchObject({ code: 0 })
    },
  )

  it('leave the time that draining takes, and run as an ordinary user', () => {
    const [command, seconds] = container.lifecycle.preStop.exec.command
    expect(command).toBe('sleep')
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(Number(seconds) + 7 + 5)
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 })
  })
})
