import type { PlanRequest } from "../types";

const DEFAULT_W = 0.25;

/** Scales all devices' transmit limits to a mean, always from the limits that they had before any scaling. */
export class TransmitLimit {
  private original = new Map<string, number>();
  private scaled = new Map<string, number>(); // what the last scaling set

  static mean(request: PlanRequest): number {
    return mean(request.devices.map((device) => device.max_power_w));
  }

  scale(request: PlanRequest, target: number): void {
    const { devices } = request;
    if (devices.some(({ id, max_power_w }) => this.scaled.get(id) !== max_power_w)) {
      this.original = new Map(devices.map(({ id, max_power_w }) => [id, max_power_w])); // set elsewhere
    }
    const originals = devices.map(({ id }) => this.original.get(id)!);
    const from = mean(originals);
    devices.forEach((device, index) => {
      device.max_power_w = from > 0 ? originals[index]! * target / from : target;
    });
    this.scaled = new Map(devices.map(({ id, max_power_w }) => [id, max_power_w]));
  }
}

const mean = (values: number[]): number =>
  values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : DEFAULT_W;
