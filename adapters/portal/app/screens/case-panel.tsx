/**
 * What is wrong with a webhook, what its server answered last, what happens next, and what to do about it. After a test that
 * arrived it says so.
 */
import { useSignal } from '@preact/signals'
import type { Attempt, WebhookHealth } from 'hookswitch/client'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { accountRequest } from '../api/api.js'
import { type TestResult, testWebhook } from '../api/test-webhook.js'
import type { Subject } from '../api/webhook-health.js'
import { Body } from '../components/body.js'
import { Button } from '../components/button.js'
import { CopyButton } from '../components/copy.js'
import { Line } from '../components/hostile-text.js'
import { Icon } from '../components/icon.js'
import { ReplayFailedButton } from '../components/replay.js'
import { Clock, dayTimeText, In, lastingText, sinceText } from '../components/time.js'
import { useAction } from '../state/action.js'
import { notify } from '../state/announce.js'
import { nowMs } from '../state/clock.js'
import { zone } from '../state/preferences.js'
import { canChange } from '../state/scope.js'
import { failureText, t } from '../state/translate.js'
import {
  type AnsweredTest,
  type Case,
  type CaseWords,
  caseOf,
  causeOf,
  mendedCase,
  type Step,
} from '../text/case.js'
import { curlCommand } from '../text/curl.js'
import { formatRoute } from '../text/routes.js'
import { isStatus, statusText } from '../text/statuses.js'
import { clockTime, isSameDay } from '../text/times.js'

interface CasePanelProps {
  readonly accountId: string
  readonly webhookId: string
  readonly subject: Subject
  readonly onChanged: () => void
}

/** What was known when a test was sent that has arrived. */
interface Mended extends AnsweredTest {
  readonly before: WebhookHealth
}

/** With seconds where the day is today. */
function momentText(ms: number): string {
  const isToday = isSameDay(ms, nowMs.value, zone.value)
  return isToday ? clockTime(ms, zone.value).slice(0, 8) : dayTimeText(ms)
}

const wordsNow = (): CaseWords => ({
  say: t,
  failure: failureText,
  since: sinceText,
  at: dayTimeText,
  moment: momentText,
  span: lastingText,
  nowMs: nowMs.value,
})

export function CasePanel(props: CasePanelProps) {
  const { accountId, webhookId, subject, onChanged } = props
  const { webhook, health } = subject
  const mended = useSignal<Mended | undefined>(undefined)
  const aborting = useRef(new AbortController())
  useEffect(() => () => aborting.current.abort(), [])
  const test = useAction(async () => {
    const result = await testWebhook({ accountId, webhookId }, aborting.current.signal).catch((thrown) => {
      if (!aborting.current.signal.aborted) throw thrown
    })
    if (!result) return
    mended.value =
      result.attempt?.result === 'success'
        ? { attempt: result.attempt, wasBroken: isBroken(health), before: health }
        : undefined
    if (mended.value) notify(t('case.testArrived'))
    else notify(failedTestText(result), true)
    onChanged()
  })
  const isTesting = test.isRunning.value ? t('case.testing') : undefined
  const current = isStillTrue(mended.value, health) ? mended.value : undefined
  const shown = current ? mendedCase(subject, current, wordsNow()) : caseOf(subject, wordsNow())
  const lost = health.not_delivered
  const replay = (isFirst: boolean) => (
    <ReplayFailedButton
      {...{ accountId, webhookId }}
      kind={isFirst ? 'primary' : undefined}
      from={health.not_delivered_since}
      waiting={health.pending}
      text={t('case.replay', { count: lost, more: health.not_delivered_capped ? '+' : '' })}
    />
  )
  if (!shown) {
    return (
      <Working isLosing={lost > 0} isTesting={isTesting} onTest={() => void test.run()}>
        {replay(false)}
      </Working>
    )
  }
  return (
    <section class={`panel case is-${shown.role}`} aria-labelledby="case">
      <header>
        <h2 id="case">
          <Icon name={shown.icon} />
          <span>
            <Line text={shown.headline} />
          </span>
        </h2>
        {shown.lead !== '' && (
          <p>
            <Strong text={shown.lead} />
          </p>
        )}
        {canChange.value && (
          <div class="do">
            {!webhook.enabled && <SwitchOn {...{ accountId, webhookId, onChanged }} />}
            {current ? (
              <>
                {lost > 0 && webhook.enabled && replay(true)}
                <Button kind="quiet" icon="test" busy={isTesting} onClick={() => void test.run()}>
                  {t('case.testAgain')}
                </Button>
              </>
            ) : (
              <>
                <Button
                  kind={webhook.enabled ? 'primary' : undefined}
                  icon="test"
                  busy={isTesting}
                  onClick={() => void test.run()}
                >
                  {t('case.test')}
                </Button>
                {health.state === 'paused' && <Resume {...{ accountId, webhookId, onChanged }} />}
                {lost > 0 && webhook.enabled && replay(false)}
              </>
            )}
          </div>
        )}
      </header>
      <Sides {...{ accountId, shown }}>
        {current ? (
          <Answer accountId={accountId} label={t('case.answeredTest')} attempt={current.attempt}>
            <Before health={current.before} />
          </Answer>
        ) : (
          <Last {...{ accountId, webhook, health }} />
        )}
      </Sides>
    </section>
  )
}

const isBroken = ({ state }: WebhookHealth) => state === 'failing' || state === 'paused'

/** Whether nothing has failed since the test. */
function isStillTrue(mended: Mended | undefined, health: WebhookHealth): boolean {
  if (!mended) return false
  return !isBroken(health) || (health.failing_since ?? '') <= mended.attempt.sent_at
}

function failedTestText({ attempt, checkCause }: TestResult): string {
  const cause = checkCause ?? (attempt && causeOf(attempt))
  if (cause === undefined) return t('case.testWaits')
  return t('case.testFailed', { answer: isStatus(cause) ? statusText(cause) : failureText(cause) })
}

/** Text of which the parts between `**` are strong. */
function Strong({ text }: { readonly text: string }) {
  return <>{text.split('**').map((part, index) => (index % 2 === 1 ? <b key={index}>{part}</b> : part))}</>
}

interface WorkingProps {
  readonly isLosing: boolean
  readonly isTesting: string | undefined
  readonly onTest: () => void
  /** The button that replays. */
  readonly children: ComponentChildren
}

/** In place of a case, where nothing is wrong. */
function Working({ isLosing, isTesting, onTest, children }: WorkingProps) {
  if (!canChange.value) return null
  return (
    <div class="bar">
      <Button icon="test" busy={isTesting} onClick={onTest}>
        {t('case.sendTest')}
      </Button>
      {isLosing && children}
    </div>
  )
}

interface ChangeProps {
  readonly accountId: string
  readonly webhookId: string
  readonly onChanged: () => void
}

function Resume({ accountId, webhookId, onChanged }: ChangeProps) {
  const resume = useAction(async () => {
    await accountRequest('PUT', '/webhooks/{webhook_id}/resume', { accountId, webhookId, data: {} })
    notify(t('webhook.resumed'))
    onChanged()
  })
  return (
    <Button
      icon="send"
      busy={resume.isRunning.value ? t('case.resume') : undefined}
      onClick={() => void resume.run()}
    >
      {t('case.resume')}
    </Button>
  )
}

function SwitchOn({ accountId, webhookId, onChanged }: ChangeProps) {
  const enable = useAction(async () => {
    await accountRequest('PATCH', '/webhooks/{webhook_id}', { accountId, webhookId, data: { enabled: true } })
    notify(t('webhook.enabled'))
    onChanged()
  })
  return (
    <Button
      kind="primary"
      icon="send"
      busy={enable.isRunning.value ? t('webhook.switchOn') : undefined}
      onClick={() => void enable.run()}
    >
      {t('webhook.switchOn')}
    </Button>
  )
}

function Sides({ shown, children }: { readonly shown: Case; readonly children: ComponentChildren }) {
  return (
    <div class="sides">
      <div>{children}</div>
      <div>
        <h3 class="label">{t('next.title')}</h3>
        <ol class="line">
          {shown.steps.map((step) => (
            <NextStep key={step.title} step={step} />
          ))}
        </ol>
      </div>
    </div>
  )
}

function NextStep({ step: { icon, title, text, atMs } }: { readonly step: Step }) {
  return (
    <li class="next">
      <Icon name={icon} />
      <b>{title}</b>{' '}
      {atMs !== undefined && (
        <span class="soft">
          <In at={atMs} />
        </span>
      )}
      <p>{text}</p>
    </li>
  )
}

interface LastProps extends Subject {
  readonly accountId: string
}

/** What the server answered last, or why it did not. */
function Last({ accountId, webhook, health }: LastProps) {
  const { last_attempt: attempt, same_answers: same, same_answers_capped: isCapped } = health
  const { checked_at: checkedAt, check_cause: checkCause } = webhook.health
  if (checkedAt !== undefined && checkCause !== undefined && checkedAt >= (attempt?.sent_at ?? '')) {
    return (
      <>
        <h3 class="label">{t('case.lastCheck')}</h3>
        <p class="answer">
          <b>{failureText(checkCause)}</b>
          <span class="soft">
            <Clock at={checkedAt} />
          </span>
        </p>
        <p class="hint">{t('case.nothingSent')}</p>
        {attempt && (
          <p class="hint">
            {t('case.lastAnswer')} {answerText(attempt)}, <Clock at={attempt.sent_at} />
          </p>
        )}
      </>
    )
  }
  if (!attempt) return <p class="hint">{t('case.noAttempt')}</p>
  return (
    <Answer
      accountId={accountId}
      label={t(attempt.resp_status_code === undefined ? 'case.lastTry' : 'case.answeredLast')}
      attempt={attempt}
    >
      <div class="row same">
        {same > 1 && <span class="hint">{t('case.same', { count: same, more: isCapped ? '+' : '' })}</span>}
        <CopyCurl attempt={attempt} />
      </div>
    </Answer>
  )
}

const answerText = (attempt: Attempt): string => {
  const cause = causeOf(attempt) ?? ''
  return isStatus(cause) ? statusText(cause) : failureText(cause)
}

interface AnswerProps {
  readonly accountId: string
  readonly label: string
  readonly attempt: Attempt
  readonly children?: ComponentChildren
}

function Answer({ accountId, label, attempt, children }: AnswerProps) {
  const { resp_body: body = '', resp_body_cut: isCut = false, duration_ms: tookMs, detail } = attempt
  const location = Object.entries(attempt.resp_headers ?? {}).find(
    ([name]) => name.toLowerCase() === 'location',
  )
  return (
    <>
      <h3 class="label">
        {label}
        <a class="push" href={formatRoute({ screen: 'delivery', accountId, id: attempt.delivery_id })}>
          {t('case.exchange')}
        </a>
      </h3>
      <p class="answer">
        <b>{answerText(attempt)}</b>
        <span class="soft">
          <Clock at={attempt.sent_at} />
          {tookMs !== undefined && t('case.after', { span: lastingText(tookMs) })}
        </span>
      </p>
      {location && (
        <p class="hint mono">
          <Line text={`location: ${location[1]}`} />
        </p>
      )}
      {body !== '' ? (
        <Body text={body} label={t('attempt.responseBody')} />
      ) : (
        attempt.resp_status_code === undefined && detail !== undefined && <Body text={detail} label={label} />
      )}
      {isCut && <p class="hint">{t('case.shortened')}</p>}
      {children}
    </>
  )
}

function CopyCurl({ attempt }: { readonly attempt: Attempt }) {
  const { method, uri, req_headers: headers, req_body: body, req_body_cut: isCut = false } = attempt
  if (headers === undefined || isCut) return null
  return (
    <span class="push">
      <CopyButton
        size="tiny"
        label={t('case.copyCurl')}
        text={() => curlCommand({ method, uri, headers, body })}
      />
    </span>
  )
}

/** The answer before the test. */
function Before({ health }: { readonly health: WebhookHealth }) {
  const { last_attempt: attempt, same_answers: count, same_answers_capped: isCapped } = health
  if (!attempt || attempt.result === 'success') return null
  const answer = answerText(attempt)
  const more = isCapped ? '+' : ''
  return (
    <p class="hint">
      {health.failing_since === undefined
        ? t('case.before', { answer, count, more })
        : t('case.beforeSince', { answer, count, more, since: sinceText(health.failing_since) })}
    </p>
  )
}
