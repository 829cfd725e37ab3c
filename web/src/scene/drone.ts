import * as THREE from "three";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { colour } from "../theme";

/** The server as a drone with four rotors, in one mesh so that it is one draw call. */
export function droneMesh(colourName: string, opacity = 1): THREE.Mesh {
  const material = new THREE.MeshLambertMaterial({ color: colour(colourName), transparent: opacity < 1, opacity });
  const body = new THREE.SphereGeometry(1.7, 16, 12).scale(1, 1, 0.65);
  const limbs = [0.25, 0.75, 1.25, 1.75].flatMap((turn) => {
    const angle = turn * Math.PI;
    const [x, y] = [3.1 * Math.cos(angle), 3.1 * Math.sin(angle)];
    const arm = new THREE.CylinderGeometry(0.22, 0.22, 3.1, 8).rotateZ(angle - Math.PI / 2).translate(x / 2, y / 2, 0.2);
    const rotor = new THREE.TorusGeometry(1.25, 0.16, 6, 20).translate(x, y, 0.5);
    return [arm, rotor];
  });
  return new THREE.Mesh(mergeGeometries([body, ...limbs]), material);
}
