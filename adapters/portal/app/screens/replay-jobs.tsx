/** Replays of many deliveries: how far they are, what was left out, and their pause, continuation and end. */
import { useSignal } from '@preact/signals'
import type { ReplayJob } from 'hookswitch/client'
import { useEffect, useRef } from 'preact/hooks'
import { optional } from '../api/api.js'
import {
  hasEnded,
  listReplays,
  type ReplayScope,
  readReplay,
  setReplay,
  startedReplays,
} from '../api/replays.js'
import { Button } from '../components/button.js'
import { ConfirmButton } from '../components/dialog.js'
import { Icon } from '../components/icon.js'
import { State } from '../components/state.js'
import { Ago } from '../components/time.js'
import { useAction } from '../state/action.js'
import { notify } from '../state/announce.js'
import { useResource } from '../state/resource.js'
import { canChange } from '../state/scope.js'
import { number, t } from '../state/translate.js'

/** How often jobs are looked for that others, or the service itself, have started. */
const REFRESH_MS = 10_000
const PROGRESS_MS = 2_000

/** The jobs of a screen. */
export function ReplayJobs(scope: ReplayScope) {
  const jobs = useResource(
    (signal) => optional(listReplays(scope, signal)),
    [scope.accountId, scope.webhookId],
    REFRESH_MS,
  )
  const started = startedReplays.value
  const shown = useRef(started)
  useEffect(() => {
    if (shown.current !== started) jobs.reload()
    shown.current = started
  }, [started])
  return (
    <>
      {jobs.data.value?.map((job) => (
        <Job key={job.id} scope={scope} listed={job} />
      ))}
    </>
  )
}

interface JobProps {
  readonly scope: ReplayScope
  /** As the list has it. */
  readonly listed: ReplayJob
}

function Job({ scope, listed }: JobProps) {
  const isOver = useSignal(hasEnded(listed))
  const show = (job: ReplayJob) => {
    if (!isOver.value && job.state === 'completed') notify(t('replay.done', { count: job.replayed }))
    isOver.value = hasEnded(job)
    return job
  }
  const resource = useResource(
    async (signal) => (isOver.value ? listed : show(await readReplay(scope, listed.id, signal))),
    [listed.id],
    isOver.value ? undefined : PROGRESS_MS,
  )
  const set = (state: string) => async () => {
    resource.data.value = show(await setReplay(scope, listed.id, state))
  }
  const pause = useAction(set('paused'))
  const resume = useAction(set('running'))
  const cancel = useAction(set('cancelled'))
  const job = resource.data.value ?? listed
  const isPaused = job.state === 'paused'
  return (
    <section class="note job" aria-label={t('jobs.title')}>
      <div>
        <div class="row">
          <State state={job.state} />
          <Progress job={job} />
          <span>
            {progressText(job)}
            {job.webhook_id === undefined && scope.webhookId !== undefined && ` · ${t('jobs.ofAccount')}`}
            {job.automatic && ` · ${t('jobs.automatic')}`}
          </span>
          <span class="faint">
            <Ago at={job.ended_at ?? job.created_at} />
          </span>
        </div>
        <LeftOut job={job} />
      </div>
      {!isOver.value && canChange.value && (
        <div class="row push">
          <Button
            size="tiny"
            icon={isPaused ? 'send' : 'pause'}
            onClick={() => void (isPaused ? resume : pause).run()}
          >
            {t(isPaused ? 'jobs.continue' : 'jobs.pause')}
          </Button>
          <ConfirmButton
            action={cancel}
            label={t('jobs.stop')}
            title={t('jobs.stopTitle')}
            text={t('jobs.stopText')}
            verb={t('jobs.stopVerb')}
            isDangerous
            look={{ size: 'tiny', kind: 'danger' }}
          />
        </div>
      )}
    </section>
  )
}

// Nobody has counted what the service itself repeats.
const progressText = ({ automatic, count, replayed }: ReplayJob) =>
  automatic ? t('jobs.soFar', { count: replayed }) : t('jobs.progress', { replayed: number(replayed), count })

function Progress({ job: { automatic, count, replayed, state } }: { readonly job: ReplayJob }) {
  if (automatic || (state !== 'running' && state !== 'paused')) return null
  return <progress aria-label={t('jobs.title')} max={Math.max(count, replayed)} value={replayed} />
}

function LeftOut({ job: { left_out: leftOut } }: { readonly job: ReplayJob }) {
  if (leftOut.length === 0) return null
  return (
    <details>
      <summary>
        <Icon name="right" />
        {t('jobs.leftOut', { count: leftOut.length })}
      </summary>
      <ul>
        {leftOut.map(({ webhook_id, reason }) => (
          <li key={webhook_id}>
            <span class="mono">{webhook_id}</span>: {t(`change.${reason}`)}
          </li>
        ))}
      </ul>
    </details>
  )
}
