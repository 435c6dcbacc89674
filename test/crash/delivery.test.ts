// `urlsieve dedupe` ended by kill -9, SIGINT, SIGTERM and SIGHUP at moments drawn over the bytes that it delivers, for every memory and
// output; inputs, threads and folds alternate. After a last run to its end what was delivered has every line. About 80 ended runs;
// URLSIEVE_FULL=1: 30 of each memory, output and signal.
import { describe, expect, it } from 'vitest'
import { runGrid, tableOf } from './delivery.mjs'
import { command, failingDisk, isOld, redisJob } from './delivery-command.ts'

const FULL = process.env.URLSIEVE_FULL === '1'

describe('delivered before remembered', () => {
  it('no line is lost by a run that ends early', { timeout: 7_200_000 }, async () => {
    const size = FULL
      ? { runs: 2000, perCell: 30, kills: 6, lines: 400_000 }
      : { runs: Number(process.env.URLSIEVE_KILLS ?? 80), perCell: 0, kills: 4, lines: 200_000 }
    const results = await runGrid({ command, isOld, redisJob, jobs: 2, library: failingDisk(), ...size })
    const table = tableOf(results)
    for (const { of, trials, ended, lost, twice } of FULL ? table : table.slice(0, 1)) {
      console.log(`${of}: ${trials} trials, ${ended} runs ended, ${lost} lines lost, ${twice} twice`)
    }
    const told = ({ trial, refused, problems }: (typeof results)[number]) =>
      (refused ? [refused] : problems).map((problem) => `${JSON.stringify(trial)}: ${problem}`)
    expect(results.flatMap(told)).toEqual([])
    expect(table[0]!.ended).toBeGreaterThanOrEqual(size.runs)
  })
})
